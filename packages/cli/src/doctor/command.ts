// `moorage doctor`: looks at all that keeps a server from its work, and says what to do.
import type { Config } from "@moorage/server";
import type { Command } from "commander";
import { EXIT } from "../command/exit-codes.ts";
import { addServerOptions, type ServerFlags } from "../command/global-options.ts";
import { formatOf } from "../output/format.ts";
import { addOutputOptions, type OutputFlags, printItem } from "../output/output.ts";
import { printable } from "../printable.ts";
import { listingOf } from "../resources/columns.ts";
import { addSettings, type FlagValues } from "../settings.ts";
import { type Check, examined, failed, notChecked } from "./check.ts";
import { linesOf } from "./print.ts";

type Flags = FlagValues & Pick<ServerFlags, "url" | "token"> & OutputFlags;

/** Adds `moorage doctor`. The exit code is 1 when something failed, and 8 when nothing did but not all is known. */
export function addDoctor(program: Command): void {
  const command = program
    .command("doctor")
    .description("look at settings, storage, network and the server, and say what to do about what is wrong");
  addOutputOptions(command);
  addServerOptions(command, ["url", "token"]);
  // --ca-file is there already.
  const configOf = addSettings(command, (name) => name !== "MOORAGE_CA_FILE");
  command.action(async (flags: Flags) => {
    const checks = flags.url === undefined ? await examineHere(flags, configOf) : await examineThere(flags.url, flags);
    if (formatOf(flags).kind === "table")
      process.stdout.write(
        linesOf(checks, process.stdout.columns)
          .map((line) => `${printable(line)}\n`)
          .join(""),
      );
    else await printItem({ checks: checks.map((check) => ({ ...check })) }, LISTING, flags);
    const states = new Set(checks.map(({ state }) => state));
    process.exitCode = states.has("failed") ? EXIT.error : states.has("not_checked") ? EXIT.unknown : EXIT.ok;
  });
}

const LISTING = listingOf("doctor", "checks", []);

/** Where the server of the data folder was when it was last started; undefined when it never was, or is not known. */
async function lastUrlOf(dataDir: string): Promise<string | undefined> {
  const { hasBootstrap, readBootstrap } = await import("@moorage/server/bootstrap");
  try {
    return hasBootstrap(dataDir) ? new URL(readBootstrap(dataDir).baseUrl).origin : undefined;
  } catch {
    return undefined;
  }
}

function tokenOf({ token }: Flags): Pick<ServerFlags, "token"> {
  return token === undefined ? {} : { token };
}

/** A server elsewhere: what it shows to a client. */
async function examineThere(given: string, flags: Flags): Promise<Check[]> {
  const url = new URL(given).origin;
  const [reach, api] = await Promise.all([import("./reach.ts"), import("./server-api.ts")]);
  const offsets = new Map<string, number>();
  const said = (whose: string, offsetMs: number | undefined): void =>
    void (offsetMs !== undefined && offsets.set(whose, offsetMs));
  const found = await Promise.all([
    examined("server", async () => [await reach.examineServer(url)]),
    examined("base URL", async () => [await reach.examineBaseUrl(url, undefined, (offsetMs) => said(url, offsetMs))]),
    examined("TLS", async () => [await reach.examineTls(url)]),
    examined("API", () => api.examineByApi({ url, ...tokenOf(flags) }, url, said), { what: url }),
  ]);
  const hidden = ["settings", "data folder", "disk", "database", "replicas", "bucket", "DNS"].map((name) =>
    notChecked(name, "a server elsewhere does not show it", "run moorage doctor on its machine, with its settings"),
  );
  return [...found.flat(), ...reach.examineClock(offsets), ...hidden];
}

type ConfigOf = ReturnType<typeof addSettings>;

/** The installation that the settings name, whether or not its server runs. */
async function examineHere(flags: Flags, configOf: ConfigOf): Promise<Check[]> {
  const { describeUnknown, knownVariables, SETTINGS, unknownVariables } = await import("@moorage/kernel/config");
  const unknown = unknownVariables(process.env);
  const misspelled = unknown.map((each) => failed("settings", describeUnknown(each), "correct the name, or remove it"));
  const known = knownVariables(process.env);
  let config: Config;
  try {
    config = await configOf(flags, known);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return [...misspelled, failed("settings", message), notChecked("all else", "the settings cannot be read")];
  }
  const set = new Set(
    SETTINGS.filter(({ name }) => (known[name] ?? "") !== "" || flags[attributeOf(name)] !== undefined).map(
      ({ name }) => name,
    ),
  );
  const { examineSettings } = await import("./contradictions.ts");
  return [
    ...misspelled,
    ...examineSettings(config, (name) => set.has(name)),
    ...(await examineInstallation(config, flags)),
  ];
}

function attributeOf(name: string): string {
  return name
    .slice("MOORAGE_".length)
    .toLowerCase()
    .replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

async function examineInstallation(config: Config, flags: Flags): Promise<Check[]> {
  const [machine, reach, api, server] = await Promise.all([
    import("./machine.ts"),
    import("./reach.ts"),
    import("./server-api.ts"),
    import("@moorage/server"),
  ]);
  const offsets = new Map<string, number>();
  const said = (whose: string, offsetMs: number | undefined): void =>
    void (offsetMs !== undefined && offsets.set(whose, offsetMs));
  const local = reach.localUrl(config);
  const database = async (): Promise<Check[]> => {
    const { checks, offsetMs } = await server.examineDatabase(config);
    said("the database", offsetMs);
    return checks;
  };
  const folder = { what: config.dataDir, fix: "look at the file system of the data folder" };
  const first = await Promise.all([
    examined("data folder", async () => [machine.examineFolder(config)], folder),
    examined("disk", async () => [await machine.examineDisk(config)], folder),
    examined("database", database, server.subjectOfDatabase(config)),
    examined("bucket", () => server.examineBucket(config), server.subjectOfBucket(config)),
    examined("mail", () => server.examineMail(config), { what: URL.parse(config.smtpUrl)?.host ?? "the mail server" }),
    examined("DNS", () => machine.examineNames(config), { fix: "this machine's name servers do not answer" }),
    examined("server", async () => [await reach.examineServer(local, await lastUrlOf(config.dataDir))]),
  ]);
  const runs = first.flat().some(({ name, state }) => name === "server" && state !== "not_checked");
  const second = runs
    ? await Promise.all([
        examined("base URL", async () => [
          await reach.examineBaseUrl(config.baseUrl, local, (offsetMs) => said(config.baseUrl, offsetMs)),
        ]),
        examined("TLS", async () =>
          config.baseUrl.startsWith("https:") ? [await reach.examineTls(config.baseUrl)] : [],
        ),
        examined(
          "API",
          () => api.examineByApi({ url: config.baseUrl, dataDir: config.dataDir, ...tokenOf(flags) }, local, said),
          { what: config.baseUrl },
        ),
      ])
    : [["base URL", "TLS", ...api.BY_API].map((name) => notChecked(name, "no server runs"))];
  return [...first.flat(), ...second.flat(), ...reach.examineClock(offsets)];
}
