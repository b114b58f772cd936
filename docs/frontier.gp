# gnuplot docs/frontier.gp, from the root: draws docs/frontier.svg from the tables of docs/accuracy.md, which
# scripts/reproduce frontier-ratings and frontier-ranking make (MovieLens 1M, 5 seeds).
set terminal svg noenhanced size 1040,540 font "sans-serif,13" background rgb "white"
set output "docs/frontier.svg"
set multiplot layout 1,2
set logscale x
set xrange [0.25:13]
set xtics (0.3, 1, 3, 10)
set xlabel "proved epsilon, whole users, all releases"
set grid ytics lc rgb "#dddddd"
set border 3
set tics nomirror
set key below maxcols 2 samplen 1.5 spacing 1.05 font ",12"

$ratings << EOD
0.3 .924 .933 .974 1.000 .935 .983 1.055
1   .891 .898 .927 .965 .902 .943 .936
3   .872 .880 .901 .937 .886 .925 .923
10  .854 .861 .876 .919 .880 .919 .921
EOD
$ranking << EOD
0.3 .322 .301 .234 .309 .199 .191
1   .362 .349 .312 .319 .202 .245
3   .387 .375 .360 .321 .202 .332
10  .414 .407 .397 .321 .202 .371
EOD
set title "Ratings: RMSE, lower is better"
set yrange [.84:1.08]
plot $ratings using 1:2 with linespoints lw 2 pt 7 lc rgb "#0b3c6d" title "private-ratings, facts, at home", \
     $ratings using 1:3 with linespoints lw 2 pt 7 lc rgb "#0b5cad" title "private-ratings, facts", \
     $ratings using 1:4 with linespoints lw 2 pt 7 lc rgb "#6aa5d9" title "private-ratings", \
     $ratings using 1:5 with linespoints lw 2 pt 5 lc rgb "#c9661c" title "private ALS", \
     $ratings using 1:8 with linespoints lw 2 pt 9 lc rgb "#3a8f5b" title "DP-SGD", \
     $ratings using 1:6 with linespoints lw 2 pt 5 lc rgb "#a07830" title "private biases, at home", \
     $ratings using 1:7 with linespoints lw 2 pt 5 lc rgb "#e0b070" title "private biases", \
     .869 with lines dt 2 lw 1.5 lc rgb "#444444" title "ALS without privacy", \
     .907 with lines dt 3 lw 1.5 lc rgb "#888888" title "biases without privacy"
set title "Rankings: NDCG@10, higher is better"
set yrange [.17:.47]
plot $ranking using 1:2 with linespoints lw 2 pt 7 lc rgb "#0b3c6d" title "private-gram, facts, at home", \
     $ranking using 1:3 with linespoints lw 2 pt 7 lc rgb "#0b5cad" title "private-gram, facts", \
     $ranking using 1:4 with linespoints lw 2 pt 7 lc rgb "#6aa5d9" title "private-gram", \
     $ranking using 1:7 with linespoints lw 2 pt 9 lc rgb "#3a8f5b" title "DP-SGD", \
     $ranking using 1:5 with linespoints lw 2 pt 5 lc rgb "#a07830" title "private popularity, at home", \
     $ranking using 1:6 with linespoints lw 2 pt 5 lc rgb "#e0b070" title "private popularity", \
     .441 with lines dt 4 lw 1.5 lc rgb "#444444" title "EASE without privacy", \
     .413 with lines dt 2 lw 1.5 lc rgb "#444444" title "implicit ALS without privacy", \
     .203 with lines dt 3 lw 1.5 lc rgb "#888888" title "popularity without privacy"
