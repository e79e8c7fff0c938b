defmodule RustyJson.Build.Proxy do
  @moduledoc false
  # The proxy for a download, from the variables that Mix looks at too: HTTP_PROXY, HTTPS_PROXY and NO_PROXY, or their names in small
  # letters.

  @typedoc "Gives the value of a variable."
  @type environment :: (String.t() -> nil | String.t())

  @doc """
  The options of a profile of `:httpc` and of a request, for this address. `NO_PROXY` names hosts, and those below them, that have no proxy.

      iex> RustyJson.Build.Proxy.of("https://example.com/", &%{"https_proxy" => "proxy:3128"}[&1])
      {[https_proxy: {{~c"proxy", 3128}, []}], []}
      iex> RustyJson.Build.Proxy.of("http://example.com/", &%{"HTTP_PROXY" => "http://me:a%20b@proxy:3128"}[&1])
      {[proxy: {{~c"proxy", 3128}, []}], [proxy_auth: {~c"me", ~c"a b"}]}
      iex> RustyJson.Build.Proxy.of("http://example.com/", &%{"HTTP_PROXY" => "proxy:3128", "NO_PROXY" => "localhost, .com"}[&1])
      {[], []}
  """
  @spec of(String.t(), environment()) :: {keyword(), keyword()}
  def of("https:" <> _ = address, environment), do: of(address, :https_proxy, "HTTPS_PROXY", environment)
  def of(address, environment), do: of(address, :proxy, "HTTP_PROXY", environment)

  defp of(address, option, name, environment) do
    case proxy(name, environment) do
      nil ->
        {[], []}

      proxy ->
        # `:httpc` takes names of hosts without one, too, but "*.a.com" for the end of "aa.com".
        if without?(URI.parse(address).host, variable("NO_PROXY", environment) || ""),
          do: {[], []},
          else:
            {[{option, {{String.to_charlist(proxy.host), proxy.port}, []}}], authorization(proxy.userinfo)}
    end
  end

  defp authorization(nil), do: []

  defp authorization(user) do
    [user | password] = String.split(user, ":", parts: 2)
    [proxy_auth: {decoded(user), decoded(Enum.join(password))}]
  end

  # Bytes, which need not be UTF-8.
  defp decoded(text), do: text |> URI.decode() |> :binary.bin_to_list()

  defp proxy(name, environment) do
    with address when address != nil <- variable(name, environment) do
      case URI.parse(if(address =~ "://", do: address, else: "http://" <> address)) do
        %{host: host, port: port} = proxy when host not in [nil, ""] and port != nil ->
          proxy

        # Its value may contain a password.
        _other ->
          raise ArgumentError,
                "#{name} is not the address of a proxy, such as http://proxy.example.com:3128"
      end
    end
  end

  defp variable(name, environment) do
    Enum.find_value([name, String.downcase(name)], fn name ->
      if value = environment.(name), do: if(String.trim(value) != "", do: String.trim(value))
    end)
  end

  defp without?(host, names) do
    names
    |> String.downcase()
    |> String.split([",", " "], trim: true)
    |> Enum.map(&name/1)
    |> Enum.any?(&within?(String.downcase(host), &1))
  end

  defp name("*" <> name), do: name(name)
  defp name("." <> name), do: name
  # A port does not matter.
  defp name(name), do: String.replace(name, ~r/:\d+$/, "")

  # Of "*" nothing is left.
  defp within?(host, name), do: name in ["", host] or String.ends_with?(host, "." <> name)
end
