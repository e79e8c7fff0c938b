[
  inputs: ["{mix,.formatter}.exs", "{lib,test,bench,script}/**/*.{ex,exs}"],
  line_length: 110
]
