make_array a.npy 16 8 8 uint8 'x'
dolium volume ingest --no-summary --scales 1 --unsharded --gzip --chunk-size 8,8,8 a.npy v
dolium volume transcode --no-summary --chunk-size 16,8,8 v kept
dolium volume transcode --no-summary --chunk-size 16,8,8 --unsharded v plain
dolium volume transcode --no-summary --chunk-size 16,8,8 --gzip plain again
dolium volume downsample --no-summary v
ls kept/1_1_1 plain/1_1_1 again/1_1_1 v/2_2_2
# Settings of other encodings go.
python3 - << 'END'
import json
info = json.load(open("plain/info"))
info["scales"][0]["jpeg_quality"] = 80
info["scales"][0]["mine"] = 1
json.dump(info, open("plain/info", "w"))
END
dolium volume transcode --no-summary plain clean
grep -c jpeg_quality plain/info clean/info
grep -c mine clean/info
