import { isIP } from "node:net";
import { fromJson, type JsonValue, type MessageInitShape, toJsonString } from "@bufbuild/protobuf";
import { type RepoSyncSchema, type SyncConfig, SyncConfigSchema, SyncState } from "@moorage/api/messages";
import { within } from "@moorage/kernel/aip/scope";
import { type Call, timeOfDayMs } from "@moorage/kernel/core/call";
import { failedPrecondition, type FieldViolation, invalidArgument } from "@moorage/kernel/errors";
import { isPublicAddress } from "@moorage/kernel/lib/guarded-fetch";
import { compilePattern, PatternError } from "@moorage/kernel/lib/patterns";
import type { Secrets } from "@moorage/kernel/lib/secrets";
import { timestamp } from "@moorage/kernel/lib/timestamps";
import type { Row } from "@moorage/kernel/store";
import { type RawBuilder, sql } from "kysely";
import { parseImageSource, parseLocalSource } from "./image-source.ts";
import { localFault } from "./local-source.ts";
import { MAX_TAG_STEPS } from "./policies.ts";
import { standInAbove } from "./stand-ins.ts";

const DEFAULT_INTERVAL_MS = 3_600_000;
const MIN_INTERVAL_S = 60;
const MAX_INTERVAL_S = 30 * 24 * 3600;

/** The settings of a mirror: a SyncConfig without its password, compiled. */
export interface SyncSettings {
  /** The source's registry: scheme, host and port. Empty for this installation. */
  origin: string;
  /** The image's name in that registry; of this installation, its path or the repo's uid. */
  name: string;
  /** Whether a tag is mirrored. */
  follows(tag: string): boolean;
  intervalMs: number;
  pullThrough: boolean;
  /** Whether the digests of imported moves are copied, too. */
  history: boolean;
  /** Whether tags that were moved or deleted here stay so. */
  keepsMoved: boolean;
  /** Empty for anonymous access. */
  username: string;
}

/** The settings from a repo's `sync_config`. Undefined when the repo has no source. */
export function syncSettings(text: string | null): SyncSettings | undefined {
  const config = syncConfigOf(text);
  const local = parseLocalSource(config?.source ?? "");
  const source = local === undefined ? parseImageSource(config?.source ?? "") : { origin: "", name: local };
  if (config === undefined || source === undefined) return undefined;
  const { tagPattern, interval, pullThrough, history, keepMoved, username } = config;
  const pattern = tagPattern === "" ? undefined : compilePattern(tagPattern);
  return {
    ...source,
    pullThrough,
    history,
    keepsMoved: keepMoved,
    username,
    follows: (tag) => pattern === undefined || pattern.matches(tag),
    intervalMs: interval === undefined ? DEFAULT_INTERVAL_MS : Number(interval.seconds) * 1000,
  };
}

function syncConfigOf(text: string | null): SyncConfig | undefined {
  return text === null ? undefined : fromJson(SyncConfigSchema, JSON.parse(text) as JsonValue);
}

/** The text for `repos.sync_config`, without the password. */
export function syncConfigText(config: SyncConfig | undefined): string | null {
  return config === undefined ? null : toJsonString(SyncConfigSchema, { ...config, password: "" });
}

/** The same without what is only kept for clients: a change of that is none for the mirror. */
function followedText(config: SyncConfig | undefined): string | null {
  if (config === undefined) return null;
  const { expirationTime: _, ...followed } = config;
  return syncConfigText({ ...followed, uniqueTags: false, gracePeriod: false });
}

/** What of a source cannot be found out by its form: where it may be. */
export interface SourceRules {
  /** Whether plain http and addresses that are not public are allowed. */
  allowPrivateNetwork: boolean;
}

function violationsOf(
  { source, tagPattern, interval, username, password }: SyncConfig,
  { allowPrivateNetwork }: SourceRules,
): FieldViolation[] {
  const found: FieldViolation[] = [];
  const wrong = (field: string, description: string): void =>
    void found.push({ field: `syncConfig.${field}`, description });
  const isLocal = parseLocalSource(source) !== undefined;
  const elsewhere = isLocal ? undefined : parseImageSource(source);
  if (source !== "" && !isLocal && elsewhere === undefined)
    wrong("source", "must be of the form host[:port]/name, or an image or repo of this installation, without a tag");
  if (elsewhere !== undefined && !allowPrivateNetwork && isPrivate(elsewhere.origin))
    wrong("source", "must be reached by https at a public address: MOORAGE_ALLOW_PRIVATE_NETWORK is not set");
  if (isLocal && username !== "") wrong("username", "is not used for an image of this installation");
  try {
    if (tagPattern !== "" && compilePattern(tagPattern).steps > MAX_TAG_STEPS) wrong("tagPattern", "is too complex");
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    wrong("tagPattern", error.message);
  }
  if (
    interval !== undefined &&
    (interval.nanos !== 0 || interval.seconds < MIN_INTERVAL_S || interval.seconds > MAX_INTERVAL_S)
  ) {
    wrong("interval", "must be whole seconds, from one minute to 30 days");
  }
  if (/[:\p{Cc}]/u.test(username)) wrong("username", "must hold neither colons nor control characters");
  if (/\p{Cc}/u.test(password)) wrong("password", "must not hold control characters");
  if (password !== "" && username === "") wrong("username", "is needed with a password");
  return found;
}

/** Whether it is certain, before any name is resolved, that the guarded client will not connect. */
export function isPrivate(origin: string): boolean {
  const { protocol, hostname } = new URL(origin);
  const address = hostname.replace(/^\[|\]$/g, "");
  return (
    protocol !== "https:" ||
    /^(?:.*\.)?localhost\.?$/.test(hostname) ||
    (isIP(address) !== 0 && !isPublicAddress(address))
  );
}

/** The purpose for which a mirror's password is sealed. */
export function passwordPlace(repo: string): string {
  return `mirror:${repo}`;
}

/**
 * Updates the repo's row of `mirrors` to its new configuration, in the same transaction. A password that the change
 * does not set is kept only while source and user name stay the same: otherwise a caller that may change the source
 * could have the password sent to another registry. If the settings change, the run under way is ended and the next one
 * is due immediately. Throws INVALID_ARGUMENT that names the fields.
 */
export async function updateMirror(
  call: Call,
  secrets: Secrets,
  repo: string,
  beforeText: string | null,
  after: SyncConfig | undefined,
  rules: SourceRules,
): Promise<void> {
  const before = syncConfigOf(beforeText);
  const row = await findMirror(call, repo);
  const changed = followedText(after) !== followedText(before) || (after !== undefined && after.password !== "");
  // An invalid source that an earlier release accepted remains until it is changed.
  if (!changed && (row !== undefined || syncSettings(beforeText) === undefined)) return;
  const violations = after === undefined ? [] : violationsOf(after, rules);
  const local = parseLocalSource(after?.source ?? "");
  const fault = local === undefined ? undefined : await localFault(call, repo, local);
  if (fault !== undefined) violations.unshift({ field: "syncConfig.source", description: fault });
  if (after !== undefined && after.source !== "" && (await standInAbove(call.tx, repo)) !== undefined)
    violations.push({
      field: "syncConfig.source",
      description: "is not for a repo below a group that stands for a registry",
    });
  if (violations.length > 0) throw invalidArgument(...violations);
  if (after === undefined || after.source === "") {
    for (const { follow } of call.below.repo) await follow?.(call, repo, undefined);
    return;
  }
  const sameSource = before?.source === after.source;
  const kept = sameSource && before.username === after.username ? (row?.password ?? "") : "";
  const counts = sameSource && row !== undefined ? row : NOTHING_YET;
  const password = after.password === "" ? kept : secrets.seal(after.password, passwordPlace(repo));
  const { attempt_time, success_time, tags_seen, manifests_copied, bytes_copied } = counts;
  const values = {
    attempt_time,
    success_time,
    tags_seen,
    manifests_copied,
    bytes_copied,
    actor: call.caller.identity,
    password,
    next_time: call.agreedMs,
    holder: "",
    hold_until: 0,
    state: SyncState.PENDING,
    message: "",
    failures: 0,
  };
  for (const { follow } of call.below.repo) await follow?.(call, repo, values);
}

const NOTHING_YET = { attempt_time: null, success_time: null, tags_seen: 0, manifests_copied: 0, bytes_copied: 0 };

async function findMirror(call: Call, repo: string): Promise<Row<"mirrors"> | undefined> {
  return await call.tx.selectFrom("mirrors").selectAll().where("repo", "=", repo).executeTakeFirst();
}

/** The state of a repo's mirror; only the uid for a repo without a source. */
export async function readSync(call: Call, repo: string): Promise<MessageInitShape<typeof RepoSyncSchema>> {
  const row = await findMirror(call, repo);
  return row === undefined ? { uid: repo } : syncOf(call, row);
}

function syncOf(call: Call, row: Row<"mirrors">): MessageInitShape<typeof RepoSyncSchema> & { uid: string } {
  const time = (ms: number | null) => (ms === null ? undefined : timestamp(ms));
  return {
    uid: row.repo,
    state: row.state as SyncState,
    message: row.message,
    lastAttemptTime: time(row.attempt_time),
    lastSuccessTime: time(row.success_time),
    nextTime: timestamp(timeOfDayMs(call, row.next_time)),
    tagsSeen: row.tags_seen,
    manifestsCopied: BigInt(row.manifests_copied),
    bytesCopied: BigInt(row.bytes_copied),
    consecutiveFailures: row.failures,
  };
}

/** How many states are read in one step. */
const PAGE = 1000;

/** The states of the mirrors at and below these groups, by the repos' uids, some at a time. */
export async function* syncPages(
  call: Call,
  groups: string[],
): AsyncGenerator<(MessageInitShape<typeof RepoSyncSchema> & { uid: string })[], void, undefined> {
  for (let after: string | undefined = ""; after !== undefined;) {
    const rows: Row<"mirrors">[] = await call.tx
      .selectFrom("mirrors")
      .selectAll()
      .where(within(groups, sql`repo`) as RawBuilder<boolean>)
      .where("repo", ">", after)
      .orderBy("repo")
      .limit(PAGE)
      .execute();
    if (rows.length > 0) yield rows.map((row) => syncOf(call, row));
    call.requireCaller();
    after = rows.length < PAGE ? undefined : rows.at(-1)?.repo;
  }
}

/**
 * Makes the next run due now; if one is under way, another follows it. Throws FAILED_PRECONDITION when the repo has no
 * source.
 */
export async function requestSync(call: Call, repo: string): Promise<MessageInitShape<typeof RepoSyncSchema>> {
  const row = await findMirror(call, repo);
  if (row === undefined)
    throw failedPrecondition({ type: "NO_SOURCE", subject: repo, description: "the repo has no syncConfig.source" });
  const state = row.state === SyncState.RUNNING ? row.state : SyncState.PENDING;
  for (const { sync } of call.below.repo) await sync?.(call, repo, { next_time: call.agreedMs, state });
  return await readSync(call, repo);
}
