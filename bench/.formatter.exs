[
  inputs: ["*.exs", "{lib,support}/**/*.ex"],
  line_length: 110
]
