make_objects obj 5 17
dolium mesh import --no-summary --from obj --sharded obj s
dolium mesh import --no-summary --from obj --legacy obj l
make_swc swc 5
dolium skeleton import --no-summary swc sk
serve
at_url dolium mesh ls $url/s
dolium mesh get $url/s 17 | cmp - <(dolium mesh get s 17) && echo sharded
dolium mesh get $url/l 17 | cmp - <(dolium mesh get l 17) && echo legacy
dolium skeleton get $url/sk 5 | cmp - <(dolium skeleton get sk 5) && echo skeleton
at_url dolium mesh get $url/s 6
at_url dolium mesh ls $url/l
at_url dolium skeleton ls $url/s
