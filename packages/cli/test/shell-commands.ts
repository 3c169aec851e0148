// Lets a shell run `moorage` in processes that are there already (hosts.ts): a document has hundreds of short commands,
// and starting one is most of what it takes. A program is started as always where standard input is something else
// than /dev/null, where the command serves, and where another program starts it (`timeout 5 moorage …`).
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { temporaryFolder } from "./commands.ts";
import { commandIn } from "./hosts.ts";

/** Whether each command and server is to be a process of its own. */
export const RUNS_PROGRAMS = process.env["MOORAGE_TEST_PROGRAMS"] === "1";
const COMMAND_TIMEOUT_MS = 180_000;
/** Of all arguments and variables of a command. */
const MAX_ORDER_BYTES = 4 << 20;

// What bash reads before a script. Variables that stand before a call are set within the function, too.
const FUNCTION = `moorage() {
  local link code out
  # In the background it takes the place of the shell that was made for it, so that $! is the program.
  if [ "\${1:-}" = serve ] && [ "$BASHPID" != "$$" ]; then exec moorage "$@"; fi
  if [ ! /dev/stdin -ef /dev/null ] || [ "\${1:-}" = serve ]; then command moorage "$@"; return; fi
  exec {link}<>"/dev/tcp/127.0.0.1/$MOORAGE_TEST_COMMANDS"
  { printf '%s\\0' "$PWD" "$#" "$@"; env -0; printf '\\0'; } >&"$link"
  IFS= read -r -d '' code <&"$link"
  IFS= read -r -d '' out <&"$link"
  exec {link}>&-
  cat "$out.stdout"
  [ ! -s "$out.stderr" ] || cat "$out.stderr" >&2
  return "$code"
}
`;

/** The variables with which bash runs `moorage` in these processes. None where it is to be a program. */
export async function shellCommands(t: TestContext): Promise<Record<string, string>> {
  if (RUNS_PROGRAMS) return {};
  const folder = temporaryFolder(t);
  const output = join(folder, "output");
  mkdirSync(output);
  let count = 0;
  const server = createServer((socket) => {
    socket.on("error", () => {});
    void orderOf(socket).then(async (order) => {
      if (order === undefined) return socket.destroy();
      const { code, stdout, stderr } = await commandIn(order.args, order.cwd, order.env, COMMAND_TIMEOUT_MS);
      const place = join(output, String((count += 1)));
      writeFileSync(`${place}.stdout`, stdout);
      writeFileSync(`${place}.stderr`, stderr);
      return socket.end(`${code & 0xff}\0${place}\0`);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const file = join(folder, "moorage.bash");
  writeFileSync(file, FUNCTION);
  return { BASH_ENV: file, MOORAGE_TEST_COMMANDS: String((server.address() as AddressInfo).port) };
}

interface ShellOrder {
  cwd: string;
  args: string[];
  env: Record<string, string>;
}

/** Reads an order to its end; undefined where the shell ends before, or says too much. */
async function orderOf(socket: Socket): Promise<ShellOrder | undefined> {
  let bytes = Buffer.alloc(0);
  try {
    for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
      bytes = Buffer.concat([bytes, chunk as Buffer]);
      if (bytes.length > MAX_ORDER_BYTES) return undefined;
      const order = parsed(bytes.toString("utf8"));
      if (order !== undefined) return order;
    }
  } catch {
    // The shell was ended.
  }
  return undefined;
}

/** The folder, the number of arguments, these, variables, and an empty text at the end. */
function parsed(text: string): ShellOrder | undefined {
  const [cwd, number, ...rest] = text.split("\0").slice(0, -1);
  const count = Number(number ?? Number.NaN);
  const end = rest.indexOf("", count);
  if (cwd === undefined || !(rest.length > count) || end < 0) return undefined;
  const env = rest.slice(count, end).map((each): [string, string] => {
    const at = each.indexOf("=");
    return [each.slice(0, at), each.slice(at + 1)];
  });
  return { cwd, args: rest.slice(0, count), env: Object.fromEntries(env) };
}
