// `moorage feeds`: the sources of security data, of an installation of this machine or of a server over its API.
import { resolve } from "node:path";
import { type Command, Option } from "commander";
import { UsageFailure } from "./command/failure.ts";
import { addServerOptions, type ServerFlags } from "./command/global-options.ts";
import { stoppable } from "./command/interrupt.ts";
import {
  addedText,
  counted,
  feedJson,
  feedLines,
  importedText,
  printFeeds,
  type Problem,
  printProblems,
  problemLines,
  problemsIn,
} from "./feed-lines.ts";
import { type FeedView, viewOfRow } from "./feed-view.ts";
import { isAboutServer, rejectLocalFlags } from "./installation-or-server.ts";
import { formatOf } from "./output/format.ts";
import { addOutputOptions, type OutputFlags } from "./output/output.ts";
import { addSettings, type FlagValues, namesPlace } from "./settings.ts";
import { jsonText } from "./output/json.ts";
import { printable } from "./printable.ts";

const namesFeeds = (name: string): boolean =>
  namesPlace(name) || ["MOORAGE_FEEDS_FILE", "MOORAGE_ALLOW_PRIVATE_NETWORK", "MOORAGE_DNS_SERVERS"].includes(name);
const SHRINK = ["--allow-shrink", "take a source that lacks more than a tenth of the records that are there"] as const;
const NO_WAIT = ["--no-wait", "of a server elsewhere: do not wait until it has done it"] as const;
// What only a command on the machine itself heeds.
const OF_MACHINE = ["feedsFile", "feedsMirror", "allowPrivateNetwork", "dnsServers"];

type Flags = FlagValues & ServerFlags;

/** The flags that name a server; settings have --data-dir. */
function addServer(command: Command): void {
  addServerOptions(command, ["context", "url", "token", "timeout", "debug"]);
}

const COVERS = [
  "--covers <ecosystem...>",
  "of a feed of your own: what it covers, such as npm or Debian:12, so that no record there is an answer; * (default) for all it has, none for nothing",
] as const;

/** Adds `moorage feeds`. */
export function addFeeds(program: Command): void {
  const feeds = program
    .command("feeds")
    .description(
      "sources of security data: list, add, remove, update, import, export; of an installation of this machine, whose server may run, or of a server that is named or signed in to",
    );
  for (const add of [addList, addAdd, addRemove, addUpdate, addImport, addExport]) add(feeds);
}

function addList(feeds: Command): void {
  const command = feeds
    .command("list")
    .description("list the feeds, with their licenses and their state")
    .option(
      "--problems [feed]",
      "list what the last import of this feed, or of each, could not read, and what of it matches or is about nothing",
    )
    .option("--json", "print JSON");
  addServer(command);
  addOutputOptions(command);
  const configOf = addSettings(command, namesPlace);
  command.action(async (values: Flags & OutputFlags) => {
    const { problems } = values;
    const of = typeof problems === "string" ? problems : undefined;
    if (await isAboutServer(values)) {
      const { listOnServer, problemsOnServer } = await import("./feeds-on-server.ts");
      if (problems === undefined) return show(await listOnServer(values), values);
      const { problems: found, feeds: all } = await problemsOnServer(values, of);
      return showProblems(found, of, all, values);
    }
    const { withFeeds } = await import("@moorage/server");
    const config = await configOf(values);
    await withFeeds(config, async (admin) => {
      const all = (await admin.list()).map(viewOfRow);
      if (problems === undefined) return show(all, values);
      await showProblems(problemsIn(await admin.problems(of), await admin.unmatched(of)), of, all, values);
    });
  });
}

async function show(all: readonly FeedView[], values: Flags & OutputFlags): Promise<void> {
  const isJson = values["json"] === true;
  if (!isJson && formatOf(values).kind !== "table") return printFeeds(all, values);
  if (isJson) console.log(jsonText(all.map(feedJson)));
  else for (const line of feedLines(all)) console.log(line);
}

async function showProblems(
  found: readonly Problem[],
  of: string | undefined,
  all: readonly FeedView[],
  values: Flags & OutputFlags,
): Promise<void> {
  const isJson = values["json"] === true;
  if (!isJson && formatOf(values).kind !== "table") return printProblems(found, values);
  if (isJson) console.log(jsonText(found.map((problem) => ({ ...problem }))));
  else for (const line of problemLines(found, of, all)) console.log(line);
}

function addAdd(feeds: Command): void {
  const command = feeds
    .command("add")
    .description("add feeds by the names of presets and fetch them, or a feed of your own")
    .argument(
      "<names...>",
      "presets, which the documentation lists, such as osv kev epss; or the name of your own feed",
    )
    .option("-y, --yes", "add and fetch without asking: the address, the interval and the license are accepted")
    .option(...NO_WAIT)
    .option("--format <format>", "of a feed of your own; the documentation lists them")
    .option("--licence <text>", "of a feed of your own: the license of its data, such as CC-BY-4.0")
    .option("--address <url>", "where it is fetched from; a feed of your own without one is only imported")
    .option("--interval <duration>", "how often it is fetched, 6h by default")
    .addOption(
      new Option("--product <purl...>", "of a feed of VEX documents: beginnings of the purls that it may decide about"),
    )
    .option(...COVERS);
  addServer(command);
  const configOf = addSettings(command, (name) => namesFeeds(name) || name === "MOORAGE_FEEDS_MIRROR");
  command.action(async (names: string[], flags: AddFlags & Flags) => {
    const { yes, wait, format, licence, address, interval, product, covers, ...values } = flags;
    const isRemote = await isAboutServer(values);
    if (isRemote) rejectLocalFlags(values, OF_MACHINE);
    const waiting = { yes: yes === true, wait: wait !== false };
    if (format === undefined) {
      if (licence !== undefined || product !== undefined || covers !== undefined)
        throw new UsageFailure("--licence, --product and --covers are for a feed of your own: name its --format");
      const other = { address, interval };
      if (isRemote) return (await import("./feeds-on-server.ts")).addPresetsOnServer(values, names, other, waiting);
      const { addPresets } = await import("./feed-presets.ts");
      const config = await configOf(values);
      return await interruptible((signal) => addPresets(config, names, other, { yes: yes === true, signal }));
    }
    const [name = "", second] = names;
    if (second !== undefined) throw new UsageFailure(`one feed has one name: ${name} and ${second} are two`);
    if (licence === undefined) throw new UsageFailure("name the license of the feed with --licence");
    if (isRemote) {
      const own = { name, format, licence, address, interval, products: product ?? [], covers: covers ?? [] };
      return (await import("./feeds-on-server.ts")).addOwnOnServer(values, own, waiting);
    }
    const { withFeeds } = await import("@moorage/server");
    const given = { name, format, licence, address, interval, products: product, covers };
    await withFeeds(await configOf(values), (admin) => admin.add(given));
    console.log(`added ${name}`);
  });
}

/** The flags of `feeds add`. */
interface AddFlags {
  yes?: boolean;
  wait?: boolean;
  format?: string;
  licence?: string;
  address?: string;
  interval?: string;
  product?: string[];
  covers?: string[];
}

function addRemove(feeds: Command): void {
  const command = feeds
    .command("remove")
    .description("remove a feed with all its records")
    .argument("<name>")
    .option(...NO_WAIT);
  addServer(command);
  const configOf = addSettings(command, namesPlace);
  command.action(async (name: string, { wait, ...values }: Flags & { wait?: boolean }) => {
    if (await isAboutServer(values))
      return (await import("./feeds-on-server.ts")).removeOnServer(values, name, wait !== false);
    const { withFeeds } = await import("@moorage/server");
    const config = await configOf(values);
    const { removed } = await withFeeds(config, (admin) => admin.remove(name));
    console.log(`removed ${name} with ${counted(removed, "record")}`);
  });
}

function addUpdate(feeds: Command): void {
  const command = feeds
    .command("update")
    .alias("refresh")
    .description("fetch feeds now")
    .argument("[names...]", "all that have an address by default")
    .option(...SHRINK)
    .option(...NO_WAIT);
  addServer(command);
  const configOf = addSettings(command, namesFeeds);
  command.action(async (names: string[], { wait, ...flags }: Flags & { wait?: boolean }) => {
    if (await isAboutServer(flags)) {
      rejectLocalFlags(flags, ["allowShrink", ...OF_MACHINE]);
      return (await import("./feeds-on-server.ts")).updateOnServer(flags, names, wait !== false);
    }
    const { allowShrink, ...values } = flags;
    const { withFeeds } = await import("@moorage/server");
    const config = await configOf(values);
    await interruptible((signal) =>
      withFeeds(config, (admin) =>
        admin.update(names, { allowShrink: allowShrink === true, signal }, (feed, outcome) => {
          if (outcome instanceof Error) {
            console.error(printable(`moorage: ${feed}: ${outcome.message}`));
            process.exitCode = 1;
          } else console.log(outcome === "unchanged" ? `${feed}: not changed` : importedText(outcome));
        }),
      ),
    );
  });
}

function addImport(feeds: Command): void {
  const command = feeds
    .command("import")
    .description("import the data of a feed, or what `moorage feeds export` wrote")
    .argument("<file>", "a file, an archive or a folder; its format is recognized")
    .option("--feed <name>", "the feed whose data it has, by default the name of the file; one that is new is added")
    .option("--licence <text>", "under which the data of the feed may be used, such as CC-BY-4.0; shown with the data")
    .option(...COVERS)
    .option("--part", "the file does not have all records of the feed; the others stay")
    .option(...SHRINK);
  const configOf = addSettings(command, namesFeeds);
  command.action(async (file: string, { feed, licence, covers, part, allowShrink, ...values }: FlagValues) => {
    const { withFeeds } = await import("@moorage/server");
    const config = await configOf(values);
    const done = await interruptible((signal) =>
      withFeeds(config, (admin) =>
        admin.importFile(resolve(file), {
          feed: feed as string | undefined,
          licence: licence as string | undefined,
          covers: covers as string[] | undefined,
          isPart: part === true ? true : undefined,
          allowShrink: allowShrink === true,
          signal,
          added: (definition) => console.log(addedText(definition, file)),
        }),
      ),
    );
    for (const one of done) console.log(importedText(one));
  });
}

function addExport(feeds: Command): void {
  const command = feeds
    .command("export")
    .description("write all feeds with their records to a file, for installations without a network")
    .argument("<file>", "gzip");
  const configOf = addSettings(command, namesPlace);
  command.action(async (file: string, values: FlagValues) => {
    const { withFeeds } = await import("@moorage/server");
    const config = await configOf(values);
    const { feeds: count, records } = await withFeeds(config, (admin) => admin.exportAll(resolve(file)));
    console.log(`exported ${counted(count, "feed")} with ${counted(records, "record")} to ${file}`);
  });
}

/** Does work that SIGINT and SIGTERM end between two steps. */
function interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  return stoppable("stopped: what was imported stays; run the same command again for the rest", work);
}
