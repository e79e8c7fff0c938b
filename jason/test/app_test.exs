# An application that was written for Jason runs on the stand-in unchanged.
app = Path.expand("../../test/fixtures/jason_app", __DIR__)
for file <- ~w(catalog api settings), do: Code.require_file("lib/shop/#{file}.ex", app)
Code.require_file("test/shop.exs", app)
