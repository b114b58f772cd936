# gnuplot docs/frontier.gp, from the root: draws docs/frontier.svg from the tables of docs/accuracy.md, which
# scripts/reproduce frontier-ratings and frontier-ranking make (MovieLens 1M, 5 seeds).
set terminal svg noenhanced size 940,500 font "sans-serif,13" background rgb "white"
set output "docs/frontier.svg"
set multiplot layout 1,2
set logscale x
set xrange [0.25:13]
set xtics (0.3, 1, 3, 10)
set xlabel "proved epsilon, whole users, all releases"
set grid ytics lc rgb "#dddddd"
set border 3
set tics nomirror
set key below maxcols 2 samplen 2 spacing 1.1

$ratings << EOD
0.3 .938 .977 1.000 .986 1.055
1   .900 .927 .965 .944 .936
3   .880 .901 .937 .925 .923
10  .861 .876 .919 .919 .921
EOD
$ranking << EOD
0.3 .292 .212 .199 .191
1   .340 .300 .202 .245
3   .367 .347 .202 .332
10  .403 .391 .202 .371
EOD
set title "Ratings: RMSE, lower is better"
set yrange [.84:1.08]
plot $ratings using 1:2 with linespoints lw 2 pt 7 lc rgb "#0b5cad" title "private-ratings, public features", \
     $ratings using 1:3 with linespoints lw 2 pt 7 lc rgb "#6aa5d9" title "private-ratings", \
     $ratings using 1:4 with linespoints lw 2 pt 5 lc rgb "#c9661c" title "private ALS", \
     $ratings using 1:6 with linespoints lw 2 pt 9 lc rgb "#3a8f5b" title "DP-SGD", \
     $ratings using 1:5 with linespoints lw 2 pt 5 lc rgb "#e0b070" title "private biases", \
     .869 with lines dt 2 lw 1.5 lc rgb "#444444" title "ALS without privacy", \
     .907 with lines dt 3 lw 1.5 lc rgb "#888888" title "biases without privacy"
set title "Rankings: NDCG@10, higher is better"
set yrange [.17:.47]
plot $ranking using 1:2 with linespoints lw 2 pt 7 lc rgb "#0b5cad" title "private-gram, public features", \
     $ranking using 1:3 with linespoints lw 2 pt 7 lc rgb "#6aa5d9" title "private-gram", \
     $ranking using 1:5 with linespoints lw 2 pt 9 lc rgb "#3a8f5b" title "DP-SGD", \
     $ranking using 1:4 with linespoints lw 2 pt 5 lc rgb "#e0b070" title "private popularity", \
     .446 with lines dt 4 lw 1.5 lc rgb "#444444" title "EASE without privacy", \
     .413 with lines dt 2 lw 1.5 lc rgb "#444444" title "implicit ALS without privacy", \
     .203 with lines dt 3 lw 1.5 lc rgb "#888888" title "popularity without privacy"
