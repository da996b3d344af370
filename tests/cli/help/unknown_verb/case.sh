status dolium verfy set
status dolium frobnicate set
status dolium --frobnicate
