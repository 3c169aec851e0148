// The flags that every command for a server takes: which server, as whom, how long to wait, and what to show of it.
import { type Command, Option } from "commander";
import { completes, type Source } from "./completion-sources.ts";

/** The flags that select the server and the caller, as commander names them. */
export interface ServerFlags {
  /** The name of a context; see config/contexts.ts. */
  context?: string;
  url?: string;
  token?: string;
  dataDir?: string;
  debug?: boolean;
  /** A duration: the longest that one request may take. */
  timeout?: string;
  /** A file with certificate authorities to trust, PEM. */
  caFile?: string;
  insecureSkipTlsVerify?: boolean;
}

/** Each flag: commander's syntax, its help, and its attribute. */
const SERVER_OPTIONS = [
  ["--context <name>", "the context to use, of `moorage config contexts` (MOORAGE_CONTEXT)", "context"],
  [
    "--url <url>",
    "URL of the server (MOORAGE_URL; default: that of the context, the data folder, or the only sign-in)",
    "url",
  ],
  [
    "--token <token>",
    "access token to use (better in MOORAGE_TOKEN, where no list of processes shows it; default: that of `moorage login`)",
    "token",
  ],
  [
    "--data-dir <folder>",
    "data folder of a server of this machine: act as its owner (MOORAGE_DATA_DIR, default ./data)",
    "dataDir",
  ],
  ["--timeout <duration>", "the longest that one request may take, such as 90s; 30s unless given", "timeout"],
  [
    "--ca-file <file>",
    "certificate authorities to trust beside the machine's, PEM (MOORAGE_CA_FILE; moorage login stores it)",
    "caFile",
  ],
  [
    "--insecure-skip-tls-verify",
    "accept any certificate, also of somebody on the way: for a test, never with a token that matters",
    "insecureSkipTlsVerify",
  ],
  ["--debug", "show requests and responses on standard error, without tokens and secrets", "debug"],
] as const;

// What completes their values.
const SOURCES: Partial<Record<keyof ServerFlags, Source>> = {
  context: "context",
  url: "server",
  dataDir: "folder",
  caFile: "file",
};
// Whoever talks to a server has to know whether it is the right one.
const ALWAYS: readonly (keyof ServerFlags)[] = ["caFile", "insecureSkipTlsVerify"];

/** Adds the flags of `ServerFlags`, or those that are named and those about certificates. */
export function addServerOptions(
  command: Command,
  attributes: readonly (keyof ServerFlags)[] = SERVER_OPTIONS.map(([, , attribute]) => attribute),
): Command {
  for (const [syntax, help, attribute] of SERVER_OPTIONS)
    if (attributes.includes(attribute) || ALWAYS.includes(attribute))
      command.addOption(completes(new Option(syntax, help).helpGroup("Server:"), SOURCES[attribute] ?? "none"));
  return command;
}

/** Flags that stood before the command's name, by attribute, and the rest of the command line. */
export interface Leading {
  flags: Map<keyof ServerFlags, string | true>;
  rest: string[];
}

/** Takes the flags of `ServerFlags` from the beginning of a command line: `moorage --context prod repos list`. */
export function takeLeading(argv: readonly string[]): Leading {
  const flags: Leading["flags"] = new Map();
  const rest = [...argv];
  for (;;) {
    const [name, inline] = /^(--[a-z-]+)(?:=(.*))?$/s.exec(rest[0] ?? "")?.slice(1) ?? [];
    const found = SERVER_OPTIONS.find(([syntax]) => syntax.split(" ")[0] === name);
    if (found === undefined) return { flags, rest };
    const [syntax, , attribute] = found;
    const value = syntax.includes("<") ? (inline ?? rest[1]) : true;
    // Without its value the flag stays, and the parser says what is missing.
    if (value === undefined) return { flags, rest };
    flags.set(attribute, value);
    rest.splice(0, value === true || inline !== undefined ? 1 : 2);
  }
}
