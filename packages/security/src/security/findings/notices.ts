import { createHash } from "node:crypto";
import { FindingSeverity, FindingsChangeSchema, KnowledgeState } from "@moorage/api/messages";
import type { Call } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import { pathOf } from "@moorage/kernel/core/image-path";
import { withBarePlus } from "@moorage/kernel/lib/purls";
import { civilTime } from "@moorage/kernel/lib/timestamps";
import { parentOf } from "@moorage/kernel/lib/uid";
import type { Database } from "@moorage/kernel/store";
import { type Severity, SEVERITIES, type SeverityCounts } from "../records/severities.ts";
import type { ImageName } from "../images/images.ts";
import type { ImageFinding } from "./read.ts";

// What was emitted of the findings of an image: those that were open then. An event says what differs from that, so
// that none is missed and none emitted twice, whatever happened between two of them.

/** One open finding as it is noted. */
interface Noted {
  /** The beginning of the hash of the package's purl, which is the same whoever says that the image holds it. */
  package: string;
  severity: Severity;
  /** The id of the vulnerability. */
  vulnerability: string;
}

/** An image that was looked at: what differs, to be emitted and noted. Plain data. */
export interface Notice extends ImageName {
  /** See finding_checks. */
  mark: string;
  /** The image is still there, and it is known what it holds; otherwise nothing is emitted. */
  isKnown: boolean;
  /** What is known of the image, and why not all is. */
  state: keyof typeof KnowledgeState;
  reason: string;
  /** What is open now, as it is stored. */
  open: string;
  /** Whether that is noted already. */
  isNoted: boolean;
  counts: SeverityCounts;
  count: number;
  opened: Noted[];
  closed: Noted[];
  tags: string[];
}

const PACKAGE_CHARS = 12;
const NAMED = 20;

/** What differs between what was emitted, as it is stored, and what is open. */
export function differences(
  emitted: string,
  findings: readonly ImageFinding[],
): Pick<Notice, "open" | "isNoted" | "counts" | "count" | "opened" | "closed"> {
  const before = new Map(linesOf(emitted).map((noted) => [keyOf(noted.package, noted.vulnerability), noted]));
  const left = new Set(before.keys());
  const opened: Noted[] = [];
  const open: Noted[] = [];
  for (const { package: held, vulnerability } of findings) {
    // As it was noted before a plus of its version was encoded.
    const id = createHash("sha256").update(withBarePlus(held.purl)).digest("hex").slice(0, PACKAGE_CHARS);
    // A vulnerability that has got another name is the same.
    const names = [vulnerability.id, ...vulnerability.aliases].map((name) => keyOf(id, name));
    const noted = { package: id, severity: vulnerability.severity, vulnerability: vulnerability.id };
    open.push(noted);
    if (!names.some((name) => before.has(name))) opened.push(noted);
    for (const name of names) left.delete(name);
  }
  const closed = [...left].flatMap((key) => before.get(key) ?? []);
  const text = textOf(open);
  return { open: text, isNoted: text === emitted, counts: countsOf(open), count: open.length, opened, closed };
}

const keyOf = (held: string, vulnerability: string): string => `${held} ${vulnerability}`;

/** A line each, so that what is the same is the same text. */
function textOf(open: readonly Noted[]): string {
  return open
    .map((noted) => `${noted.package} ${SEVERITIES.indexOf(noted.severity)} ${noted.vulnerability}`)
    .sort()
    .join("\n");
}

function linesOf(text: string): Noted[] {
  return text.split("\n").flatMap((line) => {
    const [, held = "", rank = "", vulnerability = ""] = /^(\S+) (\d+) (.+)$/.exec(line) ?? [];
    const severity = SEVERITIES[Number(rank)];
    return held === "" || severity === undefined ? [] : [{ package: held, severity, vulnerability }];
  });
}

/** The ids of the vulnerabilities that are open by what was noted of an image. */
export function openVulnerabilities(noted: string): Set<string> {
  return new Set(linesOf(noted).map(({ vulnerability }) => vulnerability));
}

/**
 * Emits what differs of each image, and notes what is open now. One that was looked at by another process, or that has
 * a new reason to be looked at, is left out: it waits, if it does, with another mark.
 */
export const emitNotices = command(
  "security.emitNotices",
  async (call: Call, { notices }: { notices: readonly Notice[] }): Promise<{ emitted: number }> => {
    let emitted = 0;
    for (const notice of notices) emitted += await emitNotice(call, notice);
    return { emitted };
  },
  { isolation: "read committed" },
);

async function emitNotice(call: Call, notice: Notice): Promise<number> {
  const { tx, nowMs } = call;
  const { repo, digest, mark, isKnown, open, isNoted, counts, opened, closed } = notice;
  const { numDeletedRows } = await tx
    .deleteFrom("finding_checks")
    .where("digest", "=", digest)
    .where("repo", "=", repo)
    .where("mark", "=", mark)
    .executeTakeFirst();
  // What has got another severity is no event.
  if (numDeletedRows === 0n || !isKnown || isNoted) return 0;
  await tx
    .insertInto("finding_notices")
    .values({ repo, digest, open, ...counts, update_time: nowMs })
    .onConflict((conflict) => conflict.columns(["repo", "digest"]).doUpdateSet({ open, ...counts, update_time: nowMs }))
    .execute();
  if (opened.length === 0 && closed.length === 0) return 0;
  const repository = await pathOf(tx, repo);
  const emit = (type: string, changed: readonly Noted[]): void =>
    void call.emit(FindingsChangeSchema, {
      type,
      subject: repo,
      group: parentOf(repo),
      isSystem: true,
      body: {
        repository,
        repoId: repo,
        digest,
        tags: notice.tags,
        open: notice.count,
        ...summaryOf(changed),
        when: civilTime(nowMs),
        state: KnowledgeState[notice.state],
        stateReason: notice.reason,
      },
    });
  if (opened.length > 0) emit("vulnerabilities.finding.opened.v1", opened);
  if (closed.length > 0) emit("vulnerabilities.finding.closed.v1", closed);
  return Number(opened.length > 0) + Number(closed.length > 0);
}

function summaryOf(changed: readonly Noted[]) {
  const worstFirst = changed.toSorted(
    (a, b) =>
      SEVERITIES.indexOf(b.severity) - SEVERITIES.indexOf(a.severity) || (a.vulnerability < b.vulnerability ? -1 : 1),
  );
  return {
    findings: changed.length,
    severities: countsOf(changed),
    worst: FindingSeverity[worstFirst[0]?.severity ?? "UNKNOWN"],
    vulnerabilities: [...new Set(worstFirst.map(({ vulnerability }) => vulnerability))].slice(0, NAMED),
  };
}

function countsOf(all: readonly Noted[]): SeverityCounts {
  const count = (severity: Severity): number => all.filter((each) => each.severity === severity).length;
  return {
    critical: count("CRITICAL"),
    high: count("HIGH"),
    medium: count("MEDIUM"),
    low: count("LOW"),
    negligible: count("NEGLIGIBLE"),
    none: count("NONE"),
    unknown: count("UNKNOWN"),
  };
}

/** What was emitted of an image, as it is stored; empty when nothing was open. */
export async function emittedOf(db: Database, { repo, digest }: ImageName): Promise<string> {
  const row = await db
    .selectFrom("finding_notices")
    .select("open")
    .where("repo", "=", repo)
    .where("digest", "=", digest)
    .executeTakeFirst();
  return row?.open ?? "";
}
