# A DVID export has its meshes elsewhere.
make_export e
status dolium mesh make e
without_sizes dolium mesh make --scale 1 e meshes
