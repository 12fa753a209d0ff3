module github.com/seed42274fcc/stoic/bench/fleet

go 1.26.0

replace github.com/seed42274fcc/stoic => ../..
