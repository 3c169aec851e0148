import { openRest, type JsonObject, type RestClient } from "../api/rest.ts";
import type { ServerFlags } from "../command/global-options.ts";
import { ownVersion } from "../version.ts";
import { examineBacklogs } from "./backlogs.ts";
import { type Check, failed, notChecked, ok, warning } from "./check.ts";
import { examineProviders } from "./providers.ts";
import { examineWebhooks } from "./webhooks.ts";

/** The checks that ask a running server. */
export const BY_API = ["version", "feeds", "webhooks", "providers", "backlogs"] as const;

/**
 * What a server says of itself by its API. `metricsUrl`: where its metrics are asked for. `said`: called with the
 * clocks of providers.
 */
export async function examineByApi(
  flags: ServerFlags,
  metricsUrl: string,
  said: (whose: string, offsetMs: number) => void,
): Promise<Check[]> {
  const backlogs = asked("backlogs", () => examineBacklogs(metricsUrl));
  let rest: RestClient;
  try {
    rest = await openRest({ timeout: "5s", ...flags });
  } catch (error) {
    const others = BY_API.filter((name) => name !== "backlogs");
    return [...others.map((name) => notChecked(name, messageOf(error))), ...(await backlogs)];
  }
  const each = [
    asked("version", () => examineVersion(rest)),
    asked("feeds", () => examineFeeds(rest)),
    asked("webhooks", () => examineWebhooks(rest)),
    asked("providers", () => examineProviders(rest, said)),
    backlogs,
  ];
  return (await Promise.all(each)).flat();
}

/** What may not be asked, or is not answered, is not known. */
async function asked(name: string, work: () => Promise<Check[]>): Promise<Check[]> {
  try {
    return await work();
  } catch (error) {
    return [notChecked(name, messageOf(error))];
  }
}

async function examineVersion(rest: RestClient): Promise<Check[]> {
  const { version, engine, blobStore } = await rest.call("GET", "/operations/v2/installation");
  const message = `moorage ${String(version)}, database ${String(engine)}, blobs ${String(blobStore)}`;
  const own = ownVersion();
  return [
    version === own
      ? ok("version", message)
      : warning("version", `${message}; this command is ${own}`, "use the command of the server's version"),
  ];
}

async function examineFeeds(rest: RestClient): Promise<Check[]> {
  const { feeds = [] } = (await rest.call("GET", "/operations/v2/feeds")) as { feeds?: JsonObject[] };
  if (feeds.length === 0)
    return [
      warning("feeds", "there is none: no vulnerability is known", "moorage feeds add (docs/security-data.md#feeds)"),
    ];
  const found = feeds.map(examineFeed).filter((check) => check !== undefined);
  const others = feeds.length - found.length;
  return [...found, ...(others === 0 ? [] : [ok("feeds", `${others} of ${feeds.length} are up to date`)])];
}

/** What is wrong with a feed, or not known of it; undefined where it is up to date. */
function examineFeed(feed: JsonObject): Check | undefined {
  const name = String(feed["name"]);
  const since = feed["successTime"] === undefined ? "never fetched" : `last fetched ${String(feed["successTime"])}`;
  const address = typeof feed["address"] === "string" ? feed["address"] : "";
  const from = address === "" ? "imported from files" : `from ${addressOf(address)}`;
  const problems = Number(feed["problems"] ?? 0);
  if (feed["deleteTime"] !== undefined) return undefined;
  if (typeof feed["error"] === "string" && feed["error"] !== "")
    return failed(
      "feeds",
      `${name}, ${from}: ${withoutAddress(feed["error"], address).slice(0, 300)} (${since})`,
      "correct its address, or let the server reach it (docs/security-data.md#feeds)",
    );
  if (feed["isOverdue"] === true)
    return warning(
      "feeds",
      `${name}, ${from}: overdue, ${since}`,
      address === "" ? "moorage feeds import" : `moorage feeds refresh ${name}; see the server's log`,
    );
  if (feed["successTime"] === undefined)
    return notChecked("feeds", `${name}, ${from}: it has not been fetched yet`, "look again in a few minutes");
  if (problems > 0)
    return warning("feeds", `${name}: ${problems} records could not be read`, `moorage feeds list --problems ${name}`);
  return undefined;
}

/** The address without what may be secret in it. */
function addressOf(text: string): string {
  const url = URL.parse(text);
  return url === null ? text.slice(0, 100) : `${url.origin}${url.pathname}`;
}

function withoutAddress(text: string, address: string): string {
  return address === "" ? text : text.replaceAll(address, addressOf(address));
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
