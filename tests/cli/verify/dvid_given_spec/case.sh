# What an export was made with is no spec of a set, by which nothing would be found.
make_export e
mv e/spec.json made_with.json
without_sizes dolium verify --spec made_with.json e
dolium info --spec made_with.json e | head -n 2
