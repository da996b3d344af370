make_set set 8
serve
echo new > new
at_url dolium put $url/set 9 new
at_url dolium rm $url/set 1
