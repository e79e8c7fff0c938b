[
  inputs: ["{mix,.formatter}.exs", "{lib,test,bench,script}/**/*.{ex,exs}", "jason/{mix.exs,lib/**/*.ex,test/**/*.exs}"],
  line_length: 110
]
