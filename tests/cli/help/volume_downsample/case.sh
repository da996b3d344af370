dolium volume downsample --help
