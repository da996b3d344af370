make_array a.npy 8 8 2 uint8 'x'
dolium volume ingest --no-summary --scales 1 --chunk-size 4,4,2 a.npy v
status dolium volume downsample --from 3 v
status dolium volume downsample --method best v
status dolium volume downsample --sharded --unsharded v
status dolium volume downsample missing
