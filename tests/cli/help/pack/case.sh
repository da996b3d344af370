dolium pack
