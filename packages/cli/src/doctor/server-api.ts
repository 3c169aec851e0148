import { openRest, type JsonObject, type RestClient } from "../api/rest.ts";
import type { ServerFlags } from "../command/global-options.ts";
import { type Check, failed, notChecked, ok, warning } from "./check.ts";
import { get, objectOf } from "./request.ts";

const MAX_ITEMS = 100;
const MAX_LAG_S = 3_600;

/** What a server says of itself by its API. `said`: called with the clocks of providers. */
export async function examineByApi(
  flags: ServerFlags,
  said: (whose: string, offsetMs: number) => void,
): Promise<Check[]> {
  let rest: RestClient;
  try {
    rest = await openRest({ timeout: "5s", ...flags });
  } catch (error) {
    return ["version", "feeds", "webhooks", "providers"].map((name) => notChecked(name, messageOf(error)));
  }
  const each = [
    asked("version", () => examineVersion(rest)),
    asked("feeds", () => examineFeeds(rest)),
    asked("webhooks", () => examineWebhooks(rest)),
    asked("providers", () => examineProviders(rest, said)),
    asked("backlogs", () => examineBacklogs(rest.url)),
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
  return [ok("version", `moorage ${String(version)}, database ${String(engine)}, blobs ${String(blobStore)}`)];
}

async function examineFeeds(rest: RestClient): Promise<Check[]> {
  const { feeds = [] } = (await rest.call("GET", "/operations/v2/feeds")) as { feeds?: JsonObject[] };
  if (feeds.length === 0)
    return [
      warning("feeds", "there is none: no vulnerability is known", "moorage feeds add (docs/security-data.md#feeds)"),
    ];
  const wrong = feeds.flatMap((feed): Check[] => {
    const name = String(feed["name"]);
    const since = feed["successTime"] === undefined ? "never fetched" : `last fetched ${String(feed["successTime"])}`;
    if (typeof feed["error"] === "string" && feed["error"] !== "")
      return [
        failed(
          "feeds",
          `${name}: ${feed["error"].slice(0, 300)} (${since})`,
          `moorage feeds list; its address is wrong or cannot be reached`,
        ),
      ];
    if (feed["isOverdue"] === true) return [warning("feeds", `${name}: overdue, ${since}`, "see the server's log")];
    return [];
  });
  return wrong.length > 0 ? wrong : [ok("feeds", `${feeds.length}, all of them up to date`)];
}

async function examineWebhooks(rest: RestClient): Promise<Check[]> {
  const [all, isCut] = await firstOf(rest, "/events/v2/subscriptions", "subscriptions");
  const wrong = all.flatMap((each): Check[] =>
    each["state"] === undefined || each["state"] === "SUBSCRIPTION_STATE_ACTIVE"
      ? []
      : [
          warning(
            "webhooks",
            `subscription ${String(each["uid"])} is ${String(each["state"]).replace("SUBSCRIPTION_STATE_", "").toLowerCase()}: ${String(each["stateReason"] ?? "no reason is given").slice(0, 300)}`,
            "mend the receiver, then moorage subscriptions update with --state (docs/events.md)",
          ),
        ],
  );
  const left = isCut ? [notChecked("webhooks", `only the first ${MAX_ITEMS} subscriptions were looked at`)] : [];
  return [
    ...(wrong.length > 0 ? wrong : [ok("webhooks", `${all.length} subscriptions, none of them stopped`)]),
    ...left,
  ];
}

async function examineProviders(rest: RestClient, said: (whose: string, offsetMs: number) => void): Promise<Check[]> {
  const [all, isCut] = await firstOf(rest, "/iam/v2/identityProviders", "identityProviders");
  const issuers = [...new Set(all.map((each) => (each["oidc"] as JsonObject | undefined)?.["issuer"]))];
  const checks = await Promise.all(
    issuers
      .filter((issuer) => typeof issuer === "string")
      .map(async (issuer) => {
        const url = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
        const answer = await get(url).catch((error: Error) => error);
        const fix = "nobody can sign in by it: correct its issuer, or let this machine reach it";
        if (answer instanceof Error) return failed("providers", `${issuer}: ${answer.message}`, fix);
        if (answer.offsetMs !== undefined) said(issuer, answer.offsetMs);
        return objectOf(answer.text)?.["issuer"] === issuer
          ? ok("providers", `${issuer} answers as itself`)
          : failed(
              "providers",
              `${issuer}: the discovery document is of another issuer, or is none (${answer.status})`,
              fix,
            );
      }),
  );
  const left = isCut ? [notChecked("providers", `only the first ${MAX_ITEMS} providers were looked at`)] : [];
  return [...(checks.length > 0 ? checks : [ok("providers", "there is none to ask")]), ...left];
}

/** Up to MAX_ITEMS, and whether there are more. */
async function firstOf(rest: RestClient, path: string, field: string): Promise<[JsonObject[], boolean]> {
  const items: JsonObject[] = [];
  for await (const item of rest.list(path, field)) {
    if (items.length === MAX_ITEMS) return [items, true];
    items.push(item);
  }
  return [items, false];
}

const LAGS: readonly (readonly [RegExp, string])[] = [
  [/^moorage_event_backlog_age_seconds\S* (\S+)$/gm, "events wait for a receiver"],
  [/^moorage_mirror_late_seconds\S* (\S+)$/gm, "a mirrored repo waits for its turn"],
];

/** The metrics, which most servers show to their own machine alone. */
async function examineBacklogs(url: string): Promise<Check[]> {
  const name = "backlogs";
  const answer = await get(`${url}/metrics`);
  if (answer.status !== 200)
    return [notChecked(name, `${url}/metrics is not for this machine (${answer.status})`, "MOORAGE_METRICS_NETWORKS")];
  const late = LAGS.flatMap(([pattern, what]) => {
    const most = Math.max(0, ...[...answer.text.matchAll(pattern)].map(([, value]) => Number(value)));
    return most > MAX_LAG_S
      ? [
          warning(
            name,
            `${what}, the longest ${Math.round(most / 60)} minutes`,
            "see the log and docs/operations.md#metrics",
          ),
        ]
      : [];
  });
  return late.length > 0 ? late : [ok(name, "nothing waits for more than an hour")];
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
