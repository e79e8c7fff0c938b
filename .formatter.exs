[
  inputs: [
    "{mix,.formatter}.exs",
    "{lib,test,bench,script}/**/*.{ex,exs}",
    "jason/mix.exs",
    "jason/{lib,test}/**/*.{ex,exs}"
  ],
  line_length: 110
]
