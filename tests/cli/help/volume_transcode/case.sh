dolium volume transcode --help
