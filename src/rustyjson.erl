%% @doc JSON for Erlang: RustyJson's engines with Erlang's conventions.
%%
%% JSON's null is the atom `null' when you decode and when you encode. Options are a proplist or a map. An error is a map:
%%
%% ```
%% 1> rustyjson:decode(<<"{\"a\": [1, 2.5, null]}">>).
%% {ok,#{<<"a">> => [1,2.5,null]}}
%% 2> rustyjson:encode(#{a => [1, 2.5, null]}).
%% {ok,<<"{\"a\":[1,2.5,null]}">>}
%% 3> {error, #{reason := Reason, position := At}} = rustyjson:decode(<<"[1,]">>), {Reason, At}.
%% {trailing_comma,3}
%% '''
%%
%% The options are those of `RustyJson.decode/2' and `RustyJson.encode/2' under the same names:
%% ``rustyjson:decode(Json, [{keys, 'atoms!'}, {engine, wasm}, {timeout, 100}])''. An unknown option or a wrong value raises
%% `badarg'; its error information says which one.
-module(rustyjson).

-export([decode/1, decode/2, encode/1, encode/2, find/2, find/3]).
-export([decode/3, decode_start/3, decode_continue/2]).
-export([first/3]).
-export([format_error/2]).

-export_type([options/0, error/0, decode_error/0, encode_error/0, continuation/0, decoders/0]).

-type options() :: [atom() | {atom(), term()}] | #{atom() => term()}.
%% A proplist or a map. In a proplist, a single atom sets that option to `true'.

-type decode_error() :: #{
    reason := atom(),
    message := binary(),
    position => non_neg_integer(),
    line => pos_integer(),
    column => pos_integer(),
    path => binary(),
    token => binary(),
    errors => [decode_error()],
    error_count => pos_integer()
}.
%% The reasons and the other keys are those of `RustyJson.DecodeError'; `errors' and `error_count' are there with `{errors, all}'. If the sandbox ended the call, the map has only `message' and
%% a reason of `RustyJson.SandboxError', such as `timeout'.

-type encode_error() :: #{reason := atom(), message := binary(), path => binary()}.
%% The reasons are those of `RustyJson.EncodeError' and `RustyJson.SandboxError', and `unsupported' for a term that has no JSON
%% form, such as a pid.

-type error() :: decode_error() | encode_error().

-type decoders() :: #{
    array_start => fun((Acc :: term()) -> term()),
    array_push => fun((Value :: term(), Acc :: term()) -> term()),
    array_finish => fun((Acc :: term(), Before :: term()) -> {Value :: term(), Acc :: term()}),
    object_start => fun((Acc :: term()) -> term()),
    object_push => fun((Key :: term(), Value :: term(), Acc :: term()) -> term()),
    object_finish => fun((Acc :: term(), Before :: term()) -> {Value :: term(), Acc :: term()}),
    float => fun((binary()) -> term()),
    integer => fun((binary()) -> term()),
    string => fun((binary()) -> term()),
    null => term()
}.
%% The callbacks of `json:decode/3', with the same defaults.

-opaque continuation() ::
    {?MODULE, feed() | {wrong, Exception :: map(), Sequence :: binary()}, {Acc :: term(), decoders()},
        Position :: non_neg_integer()}.
-type feed() :: 'Elixir.RustyJson.Feed':t().

%% These options override the application's configuration, so that results contain no Elixir structs.
-define(DECODE, [{null, null}, {objects, maps}, {floats, native}, {raw, []}]).
-define(STRUCTS, [{objects, ordered_objects}, {floats, decimals}, {as, raw}]).

-define(FEED, #{'__struct__' := 'Elixir.RustyJson.Feed'}).

%% The size of the first piece of a buffer, and the largest: a short value costs the same in a short and in a long buffer.
-define(FIRST, 512).
-define(MOST, 65536).

%% The first half of a surrogate pair, by its first two digits.
-define(IS_HIGH(D, Half),
    (D =:= $d orelse D =:= $D) andalso
        ((Half bor 32) =:= $a orelse (Half bor 32) =:= $b orelse Half =:= $8 orelse Half =:= $9)
).
%% What may follow the first byte of a character; some exclude a part, which has shorter forms, surrogates or no characters.
-define(IS_CONTINUATION(Byte), Byte band 16#C0 =:= 16#80).
-define(IS_SECOND(Lead, Byte),
    (?IS_CONTINUATION(Byte) andalso
        (Lead =/= 16#E0 orelse Byte >= 16#A0) andalso (Lead =/= 16#ED orelse Byte < 16#A0) andalso
        (Lead =/= 16#F0 orelse Byte >= 16#90) andalso (Lead =/= 16#F4 orelse Byte < 16#90))
).
-define(NUMBER, "^-?[0-9]+(?:[.][0-9]+)?(?:[eE][-+]?[0-9]+)?").

%% @equiv decode(Json, [])
-spec decode(iodata()) -> {ok, term()} | {error, decode_error()}.
decode(Json) -> decode(Json, []).

%% @doc Decodes JSON. Objects become maps; strings and keys become binaries.
%%
%% `{objects, ordered_objects}', `{floats, decimals}' and `{raw, Pointers}' raise `badarg', because their results are Elixir structs. Call
%% `` 'Elixir.RustyJson':decode/2 '' for those.
-spec decode(iodata(), options()) -> {ok, term()} | {error, decode_error()}.
decode(Json, Options) ->
    try 'Elixir.RustyJson':decode(Json, [{as, nil} | decode_options(Options)]) of
        {ok, _Term} = Done -> Done;
        {error, Exception} -> {error, error_map(Exception)}
    catch
        error:Reason:Stack -> fail(unreadable(Reason, Json), decode, [Json, Options], Stack)
    end.

%% @equiv encode(Term, [])
-spec encode(term()) -> {ok, binary()} | {error, encode_error()}.
encode(Term) -> encode(Term, []).

%% @doc Encodes a term. Keys can be binaries, atoms, integers or floats. Every list becomes an array, even a list of characters.
-spec encode(term(), options()) -> {ok, binary()} | {error, encode_error()}.
encode(Term, Options) ->
    try 'Elixir.RustyJson':encode(Term, encode_options(Options)) of
        {ok, _Json} = Done -> Done;
        {error, Exception} -> {error, error_map(Exception)}
    catch
        error:Reason:Stack -> fail(Reason, encode, [Term, Options], Stack)
    end.

%% @equiv find(Json, Pointer, [])
-spec find(iodata(), Pointer :: binary()) -> {ok, term()} | error | {error, decode_error()}.
find(Json, Pointer) -> find(Json, Pointer, []).

%% @doc Decodes only the value at a JSON Pointer (RFC 6901). Like `maps:find/2', it returns `error' if there is no such value.
%%
%% The options are those of `RustyJson.fetch/3', without `{as, raw}', because its results are Elixir structs.
-spec find(iodata(), Pointer :: binary(), options()) -> {ok, term()} | error | {error, decode_error()}.
find(Json, Pointer, Options) ->
    try 'Elixir.RustyJson':fetch(Json, pointer(Pointer), decode_options(Options)) of
        {error, Exception} -> {error, error_map(Exception)};
        Answer -> Answer
    catch
        error:Reason:Stack -> fail(unreadable(Reason, Json), find, [Json, Pointer, Options], Stack)
    end.

%% @doc Decodes the first value of a buffer, like `json:decode_start/3'. Returns the value, `Acc' and the rest of the buffer, or
%% `{continue, Continuation}' if the value does not end in the buffer.
%%
%% ```
%% 1> {continue, State} = rustyjson:decode_start(<<"[1, 2">>, ok, #{}).
%% 2> rustyjson:decode_continue(<<"0] [3]">>, State).
%% {[1,20],ok,<<" [3]">>}
%% '''
%%
%% The decoders are those of `json:decode_start/3'. They are called when the whole value is there, in the order of the text, so they are
%% not called for a value that turns out to be invalid. Invalid JSON raises `unexpected_end', `{invalid_byte, Byte}' or
%% `{unexpected_sequence, Bytes}', as in OTP. Input that exceeds a limit raises the reason, such as `max_depth'. As in OTP, the first of
%% repeated keys counts.
-spec decode_start(binary(), Acc :: term(), decoders()) ->
    {Value :: term(), Acc :: term(), Rest :: binary()} | {continue, continuation()}.
decode_start(Json, Acc, Decoders) ->
    case is_binary(Json) andalso is_map(Decoders) andalso 'Elixir.RustyJson.Decode.Callbacks':check(Decoders) of
        {ok, Decoders} -> finished(or_raise(fun() -> with_texts(begin_value(Json, Acc, Decoders)) end));
        {error, Message} -> badarg(Message, decode_start, [Json, Acc, Decoders]);
        false -> badarg(<<"takes a binary and a map of decoders">>, decode_start, [Json, Acc, Decoders])
    end.

begin_value(Json, Acc, Decoders) ->
    Feed = 'Elixir.RustyJson.Decode.Callbacks':feed(Decoders),
    push(Json, 0, ?FIRST, {?MODULE, Feed, {Acc, Decoders}, 0}).

%% The numbers of a value as texts, if they have callbacks.
with_texts({continue, _State} = Continue) ->
    Continue;
with_texts({Value, {Acc, Decoders}, Rest}) ->
    case 'Elixir.RustyJson.Decode.Callbacks':texts(Value, Decoders) of
        {ok, Term} -> {Term, {Acc, Decoders}, Rest};
        {error, Exception} -> failed(Exception)
    end.

%% The callbacks run here, once.
finished({continue, _State} = Continue) ->
    Continue;
finished({Value, {Acc, Decoders}, Rest}) ->
    {Result, Next} = 'Elixir.RustyJson.Decode.Callbacks':run(Value, Acc, Decoders),
    {Result, Next, Rest}.

%% @doc Decodes the first value of a binary, like `json:decode/3'. Returns the value, the accumulator and the rest of the binary.
%%
%% ```
%% 1> rustyjson:decode(<<"[1.50, 2] [3]">>, ok, #{float => fun(Text) -> {float, Text} end}).
%% {[{float,<<"1.50">>},2],ok,<<" [3]">>}
%% '''
-spec decode(binary(), Acc :: term(), decoders()) -> {Value :: term(), Acc :: term(), Rest :: binary()}.
decode(Json, Acc, Decoders) ->
    case decode_start(Json, Acc, Decoders) of
        {continue, State} -> decode_continue(end_of_input, State);
        Done -> Done
    end.

%% @private
%% For `RustyJson.decode/3': the same, with an error as `{failed, Position, Reason, Exception}'. The position is that of OTP.
first(Json, Acc, Decoders) ->
    try
        case begin_value(Json, Acc, Decoders) of
            {continue, State} -> with_texts(continue(end_of_input, State));
            Done -> with_texts(Done)
        end
    of
        Value -> finished(Value)
    catch
        throw:{?MODULE, Reason, Exception} -> {failed, otp_position(Reason, Exception, Json), Reason, Exception}
    end.

%% @doc Continues with the next bytes of the input, or with `end_of_input'. Only a number outside arrays and objects needs `end_of_input'.
-spec decode_continue(binary() | end_of_input, continuation()) ->
    {Value :: term(), Acc :: term(), Rest :: binary()} | {continue, continuation()}.
decode_continue(Json, Continuation) -> finished(or_raise(fun() -> with_texts(continue(Json, Continuation)) end)).

continue(end_of_input, {?MODULE, {wrong, Exception, _Sequence}, _Acc, _Position}) ->
    failed(unexpected_end, Exception);
continue(Json, {?MODULE, {wrong, Exception, Sequence}, Acc, Position}) when is_binary(Json) ->
    whole(<<Sequence/binary, Json/binary>>, Exception, Acc, Position);
continue(end_of_input, {?MODULE, ?FEED = Feed, Acc, _Position}) ->
    case 'Elixir.RustyJson.Feed':finish(Feed) of
        {ok, [Value]} -> {Value, Acc, <<>>};
        % The text ends inside a character: anything else was found before.
        {error, #{reason := invalid_utf8} = Exception, _Values} -> failed(unexpected_end, Exception);
        {error, Exception, _Values} -> failed(Exception)
    end;
continue(Json, {?MODULE, ?FEED, _Acc, _Position} = Continuation) when is_binary(Json) ->
    push(Json, 0, ?FIRST, Continuation);
continue(Json, Continuation) ->
    badarg(<<"takes a binary or end_of_input, and a continuation">>, decode_continue, [Json, Continuation]).

push(Json, From, _Size, Continuation) when From =:= byte_size(Json) ->
    {continue, Continuation};
push(Json, From, Size, {?MODULE, Feed, Acc, Position}) ->
    Piece = binary:part(Json, From, min(Size, byte_size(Json) - From)),
    Next = From + byte_size(Piece),
    case 'Elixir.RustyJson.Feed':push(Feed, Piece) of
        {ok, [], More} ->
            push(Json, Next, min(2 * Size, ?MOST), {?MODULE, More, Acc, Position + byte_size(Piece)});
        {ok, [Value], _} ->
            {Value, Acc, rest(Json, Next)};
        {error, #{reason := trailing_data, position := At}, [Value], _} ->
            {Value, Acc, rest(Json, behind_value(Json, From + At - Position))};
        {error, #{reason := Reason} = Exception, _Values, _} when
            Reason =:= lone_surrogate; Reason =:= invalid_unicode_escape
        ->
            Behind = binary:part(Json, Next, byte_size(Json) - Next),
            whole(<<(sequence(Exception))/binary, Behind/binary>>, Exception, Acc, Position);
        {error, Exception, _Values, _} ->
            failed(Exception)
    end.

%% The error shows a whole escape or pair, so it waits for the rest, as in json:decode_continue/2.
whole(Sequence, Exception, Acc, Position) ->
    case escape(Sequence) of
        more -> {continue, {?MODULE, {wrong, Exception, Sequence}, Acc, Position}};
        Escape -> failed({unexpected_sequence, Escape}, Exception)
    end.

%% The bytes from the wrong escape on; from the first half of a surrogate pair on, if it is the second half.
sequence(#{data := Data, position := Position, offset := Offset} = Exception) ->
    At = Position - Offset,
    case At >= 6 andalso binary:part(Data, At - 6, 6) of
        <<"\\u", D, Half, _, _>> = First when ?IS_HIGH(D, Half) ->
            case backslashes(Data, At - 6) rem 2 of
                0 -> <<First/binary, (bytes(Exception))/binary>>;
                1 -> bytes(Exception)
            end;
        _ ->
            bytes(Exception)
    end.

%% How many stand before this place.
backslashes(Data, At) when At > 0, binary_part(Data, At - 1, 1) =:= <<"\\">> -> 1 + backslashes(Data, At - 1);
backslashes(_Data, _At) -> 0.

%% As in json:decode_start/3, white space after the value belongs to the rest only if something else follows it.
behind_value(Json, At) ->
    case At > 0 andalso lists:member(binary:at(Json, At - 1), " \t\r\n") of
        true -> behind_value(Json, At - 1);
        false -> At
    end.

rest(Json, At) ->
    case binary:part(Json, At, byte_size(Json) - At) of
        <<Byte, _/binary>> = Rest when Byte =:= $\s; Byte =:= $\t; Byte =:= $\r; Byte =:= $\n ->
            case re:run(Rest, "[^ \\t\\r\\n]", [{capture, none}]) of
                match -> Rest;
                nomatch -> <<>>
            end;
        Rest ->
            Rest
    end.

%% As an Erlang programmer writes it; the rest of its rules is checked by fetch/3.
pointer(<<>>) -> <<>>;
pointer(<<"/", _/binary>> = Pointer) -> Pointer;
pointer(_) -> error({argument, <<"find takes a JSON Pointer as a binary, such as <<\"/a/0\">>">>}).

%%% Options

decode_options([]) -> ?DECODE;
decode_options(Given) ->
    Options = options(Given, ?DECODE),
    [throw_struct(Option) || Option <- Options, is_of_structs(Option)],
    Options.

is_of_structs({raw, Paths}) -> Paths =/= [];
is_of_structs(Option) -> lists:member(Option, ?STRUCTS).

throw_struct({Name, Value}) ->
    Text = io_lib:format("~ts => ~0tP returns Elixir structs: call 'Elixir.RustyJson':decode/2", [Name, Value, 20]),
    error({argument, unicode:characters_to_binary(Text)}).

%% JSON's null is the atom null here, so there is no nil to leave out, whatever the configuration says. A caller who chooses one of
%% these options decides about both.
encode_options(Given) ->
    Options = options(Given, []),
    case lists:keymember(null, 1, Options) orelse lists:keymember(omit, 1, Options) of
        true -> [{null, null} | Options];
        false -> 'Elixir.RustyJson.Options':with_null(Options)
    end.

options([], Defaults) -> Defaults;
options(Given, Defaults) when is_map(Given) -> Defaults ++ maps:to_list(Given);
% length/1 fails for an improper list, which takes the next clause.
options(Given, Defaults) when length(Given) > 0 -> Defaults ++ proplists:unfold(Given);
options(_Given, _Defaults) -> error({argument, <<"options are a proplist or a map">>}).

%%% Errors

error_map(#{'__struct__' := 'Elixir.Protocol.UndefinedError'} = Exception) ->
    #{reason => unsupported, message => 'Elixir.RustyJson.Encode.Unsupported':message(Exception)};
error_map(#{'__struct__' := Module} = Exception) ->
    Shown = maps:with([reason, position, line, column, path, token, errors, error_count], Exception),
    Known = maps:filter(fun(_Name, Value) -> Value =/= nil end, Shown),
    Mapped = maps:map(fun error_value/2, Known),
    maps:merge(#{reason => Module}, Mapped#{message => 'Elixir.Exception':message(Exception)}).

error_value(errors, Exceptions) -> [error_map(Exception) || Exception <- Exceptions];
error_value(_Name, Value) -> Value.

%% The error that json:decode_continue/2 raises for the same input.
-spec failed(map()) -> no_return().
failed(#{reason := Reason} = Exception) ->
    failed(otp_reason(Reason, Exception), Exception).

-spec failed(term(), map()) -> no_return().
failed(Reason, Exception) ->
    throw({?MODULE, Reason, Exception}).

or_raise(Fun) ->
    try Fun()
    catch
        throw:{?MODULE, Reason, Exception} ->
            erlang:error(Reason, none, [{error_info, #{cause => error_map(Exception)}}])
    end.

%% Where OTP says that this error is; undefined for one of the sandbox.
otp_position(unexpected_end, _Exception, Json) ->
    byte_size(Json);
otp_position({invalid_byte, _Byte}, #{reason := Reason, position := Position} = Exception, _Json) ->
    case {Reason, bytes(Exception)} of
        {invalid_escape, _} -> Position + 1;
        {infinity, <<"-", _/binary>>} -> Position + 1;
        {_, Bytes} -> Position + right(Reason, Bytes)
    end;
otp_position({unexpected_sequence, Bytes}, #{position := Position} = Exception, _Json) ->
    %% The text need not be UTF-8.
    case binary:longest_common_prefix([bytes(Exception), Bytes]) of
        Same when Same < byte_size(Bytes), Position >= 6 -> Position - 6;
        _ -> Position
    end;
otp_position(_Reason, Exception, _Json) ->
    maps:get(position, Exception, undefined).

otp_reason(unexpected_end, _Exception) ->
    unexpected_end;
otp_reason(invalid_escape, Exception) ->
    <<$\\, Byte, _/binary>> = bytes(Exception),
    {invalid_byte, Byte};
otp_reason(number_out_of_range, Exception) ->
    {match, [Number]} = re:run(bytes(Exception), ?NUMBER, [{capture, first, binary}]),
    {unexpected_sequence, Number};
otp_reason(infinity, Exception) ->
    <<Byte, _/binary>> = string:trim(bytes(Exception), leading, "-"),
    {invalid_byte, Byte};
otp_reason(Reason, #{position := _} = Exception) ->
    case lists:member(Reason, limits()) orelse bytes(Exception) of
        <<_, _/binary>> = Bytes -> {invalid_byte, binary:at(Bytes, right(Reason, Bytes))};
        _ -> Reason
    end;
otp_reason(Reason, _Exception) ->
    Reason.

%% OTP reports the byte that is wrong in a word or character, and not where that starts: how many bytes are right.
right(expected_value, <<Byte, _/binary>> = Bytes) when Byte =:= $t; Byte =:= $f; Byte =:= $n ->
    Right = lists:max([binary:longest_common_prefix([Bytes, Word]) || Word <- [<<"true">>, <<"false">>, <<"null">>]]),
    min(Right, byte_size(Bytes) - 1);
right(invalid_utf8, <<Lead, Next, Rest/binary>>) when Lead >= 16#C2, Lead =< 16#F4 ->
    case Rest of
        <<Third, _, _/binary>> when Lead >= 16#F0, ?IS_SECOND(Lead, Next), ?IS_CONTINUATION(Third) -> 3;
        <<_, _/binary>> when Lead >= 16#E0, ?IS_SECOND(Lead, Next) -> 2;
        _ -> 1
    end;
right(_Reason, _Bytes) ->
    0.

limits() ->
    [max_depth, max_nodes, max_bytes, integer_digits, decimal_digits, decimal_exponent, out_of_memory].

bytes(#{data := Data, position := Position, offset := Offset}) ->
    binary:part(Data, Position - Offset, byte_size(Data) - Position + Offset).

%% An error about the first half of a surrogate pair includes the escape that follows.
escape(<<"\\u", D, Half, _:2/binary, "\\u", _:4/binary, _/binary>> = Bytes) when ?IS_HIGH(D, Half) ->
    binary:part(Bytes, 0, 12);
escape(<<"\\u", D, Half, _:2/binary, "\\u", _/binary>>) when ?IS_HIGH(D, Half) -> more;
escape(<<Escape:6/binary, _/binary>>) -> Escape;
escape(_Bytes) -> more.

%% A wrong argument is a badarg; other errors are raised again, such as those of the caller's own functions.
-spec fail(term(), atom(), [term()], list()) -> no_return().
fail({argument, Message}, Function, Arguments, _Stack) -> badarg(Message, Function, Arguments);
fail(#{'__struct__' := 'Elixir.ArgumentError', message := Message}, Function, Arguments, _Stack) ->
    badarg(Message, Function, Arguments);
fail(Reason, _Function, _Arguments, Stack) -> erlang:raise(error, Reason, Stack).

%% Whether a badarg is about the text.
unreadable(badarg, Json) ->
    try iolist_size(Json) of
        _Size -> badarg
    catch
        error:badarg -> {argument, <<"takes JSON text as iodata: a binary, or a list of binaries and bytes">>}
    end;
unreadable(Reason, _Json) -> Reason.

%% Raises badarg in the function that was called, with a sentence that says why.
-spec badarg(binary(), atom(), [term()]) -> no_return().
badarg(Message, Function, Arguments) ->
    {current_stacktrace, Stack} = process_info(self(), current_stacktrace),
    Callers = lists:dropwhile(fun({Module, _, _, _}) -> Module =:= ?MODULE orelse Module =:= erlang end, Stack),
    erlang:raise(error, badarg, [{?MODULE, Function, Arguments, [{error_info, #{cause => Message}}]} | Callers]).

%% @private
%% `erl_error' calls this for the sentence in the shell and in logs.
format_error(_Reason, [{_Module, _Function, _Arguments, Info} | _]) ->
    case proplists:get_value(error_info, Info, #{}) of
        #{cause := #{message := Message}} -> #{general => Message};
        #{cause := Message} -> #{general => Message};
        _ -> #{}
    end.
