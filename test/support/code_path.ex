defmodule RustyJson.Test.CodePath do
  @moduledoc """
  Makes the code path short. Tests do not consolidate protocols, so the VM looks for an implementation for each struct in every folder of
  the path, one caller at a time: up to OTP 25, 0.7 ms for each that is not there, most of the time of all tests. Later versions know what
  is in a folder.
  """

  # Those with native code that no test uses.
  @unused ~w(common_test debugger edoc erl_docgen jinterface megaco observer odbc os_mon runtime_tools snmp tools wx)a

  @doc "Replaces the folders of OTP and Elixir with one that has links to their files. Applications with native code are found by their folder."
  def shorten(build) do
    if System.otp_release() < "26" do
      folders = Enum.filter(:code.get_path(), &installed?/1)
      all = Path.join(build, "code_path_#{:erlang.phash2(folders)}")
      if not File.dir?(all), do: gather(folders, all)
      Enum.each(@unused ++ folders, &:code.del_path/1)
      true = :code.add_pathz(String.to_charlist(all))
    end
  end

  defp installed?(folder) do
    roots = [:code.lib_dir(), Path.dirname(:code.lib_dir(:elixir))]
    plain = not File.dir?(Path.join(folder, "../priv"))
    plain and Enum.any?(roots, &String.starts_with?(Path.expand(folder), Path.expand(&1)))
  end

  # Another VM may do the same.
  defp gather(folders, all) do
    new = "#{all}.#{System.pid()}"
    File.mkdir_p!(new)

    for folder <- folders,
        file <- File.ls!(folder),
        do: File.ln_s(Path.expand(file, folder), Path.join(new, file))

    with {:error, _} <- File.rename(new, all), do: File.rm_rf!(new)
  end
end
