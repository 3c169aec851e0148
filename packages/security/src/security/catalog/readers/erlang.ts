import type { FileReader } from "../reader.ts";
import { erlangTokens } from "./erlang-tokens.ts";

const PATH = /(?:^|\/)ebin\/[^/]+\.app$/;
const MAX_TOKENS = 1_000_000;

/** What Erlang/OTP and Elixir bring along. None of them is a package of Hex. */
const OWN: ReadonlySet<string> = new Set(
  `asn1 common_test compiler crypto debugger dialyzer diameter edoc eldap erl_docgen erl_interface erts et eunit ftp
   hipe inets jinterface kernel megaco mnesia observer odbc os_mon parsetools public_key reltool runtime_tools sasl snmp
   ssh ssl stdlib syntax_tools tftp tools wx xmerl eex elixir ex_unit iex logger mix`.split(/\s+/),
);

/**
 * Applications of Erlang/OTP, as releases of Erlang and Elixir have them. The name of the application is that of its
 * package of Hex, as far as the file says. Source: Erlang/OTP, app(4).
 */
export const erlangReader: FileReader = {
  name: "erlang",
  maxBytes: 8 * 1024 * 1024,
  wants: (path) => path.endsWith(".app") && PATH.test(path),
  read(file, packages) {
    const { name, version } = applicationIn(file.text());
    if (name === "" || version === "") return { unread: "it states neither a name nor a version" };
    packages.add({ type: OWN.has(name) ? "otp" : "hex", name, version });
    return {};
  },
};

/** `{application, Name, [{vsn, "1.2.3"}, …]}`; what is not of that form is empty. */
function applicationIn(text: string): { name: string; version: string } {
  const head: string[] = [];
  let depth = 0;
  // The texts of the tuple at hand, in the list of what the application states.
  let tuple: string[] = [];
  for (const { kind, value } of erlangTokens(text, MAX_TOKENS)) {
    if (kind === "open") {
      depth += 1;
      if (depth === 3) tuple = [];
    } else if (kind === "close") depth -= 1;
    else if (depth === 1 && head.length < 2) head.push(value);
    else if (depth === 3 && kind === "text" && tuple.length === 1 && tuple[0] === "vsn" && head[0] === "application")
      return { name: head[1] ?? "", version: value };
    else if (depth === 3 && tuple.length < 2) tuple.push(value);
  }
  return { name: "", version: "" };
}
