import type { Attention, AttentionGap, AttentionKind } from "../../api/gen/operations.ts";
import { count, counted } from "../../lib/bytes.ts";
import { relativeTime } from "../../lib/time.ts";

/** A row of what needs attention, in words. */
export interface AttentionRow {
  kind: AttentionKind;
  title: string;
  /** What it is about. */
  line: string;
  /** Where it is seen to, and what that is called; undefined where the console has no page for it. */
  link: { href: string; text: string } | undefined;
}

interface Words {
  /** What is looked at, for what was not. */
  checked: string;
  title: (item: Attention, nowMs: number) => string;
  /** The page of one, and of several. */
  one?: (subject: { uid: string; name: string }) => string;
  all?: string;
  action?: string;
}

const several =
  (one: string, many: string) =>
  ({ count: n, atLeast }: Attention) =>
    n === "1" && !atLeast ? one : `${atLeast ? "At least " : ""}${count(n)} ${many}`;
const page = (path: string, field: string, value: string): string => `${path}?${field}=${encodeURIComponent(value)}`;

const WORDS: Readonly<Partial<Record<AttentionKind, Words>>> = {
  ATTENTION_KIND_EXPLOITED: {
    checked: "Exploited vulnerabilities in what is pulled",
    title: (item) =>
      `${several("Exploited vulnerability", "exploited vulnerabilities")(item)} in ${counted(item.images, "image")}`,
    one: ({ name }) => page("/vulnerability", "id", name),
    all: "/vulnerabilities?only=kev",
    action: "Review",
  },
  ATTENTION_KIND_MIRROR: {
    checked: "Mirrors",
    title: several("A mirror fails", "mirrors fail"),
    one: ({ name }) => page("/repo", "name", name),
    all: "/images/mirrors",
  },
  ATTENTION_KIND_REGISTRY_UPSTREAM: {
    checked: "Upstream registries",
    title: several("An upstream registry fails", "upstream registries fail"),
  },
  ATTENTION_KIND_LIBRARY_UPSTREAM: {
    checked: "Upstreams of packages",
    title: several("An upstream of packages fails", "upstreams of packages fail"),
    all: "/packages/upstreams",
  },
  ATTENTION_KIND_REPLICATION: {
    checked: "Replications",
    title: several("A replication fails", "replications fail"),
    one: ({ uid }) => page("/images/replication", "uid", uid),
    all: "/images/replications",
  },
  ATTENTION_KIND_NO_FEEDS: {
    checked: "Whether there are feeds",
    title: () => "No vulnerability data",
    all: "/operations/feeds",
  },
  ATTENTION_KIND_FEED: {
    checked: "The age of vulnerability data",
    title: several("A feed is old", "feeds are old"),
    all: "/operations/feeds",
  },
  ATTENTION_KIND_DELIVERY: {
    checked: "Deliveries of webhooks",
    title: several("1 delivery could not be sent", "deliveries could not be sent"),
    one: ({ uid }) => page("/events/subscription", "uid", uid),
    all: "/events/subscriptions",
  },
  ATTENTION_KIND_TOKEN: {
    checked: "Your tokens",
    title: (item, nowMs) => {
      const end = item.subjects[0]?.time;
      const what = several("A token ends", "tokens end")(item);
      return item.count === "1" && end !== undefined ? `${what} ${relativeTime(end, nowMs)}` : `${what} within 7 days`;
    },
    all: "/profile/tokens",
    action: "Renew",
  },
  ATTENTION_KIND_QUOTA_EXCEEDED: {
    checked: "Exceeded quotas",
    title: several("A quota is exceeded", "quotas are exceeded"),
    all: "/operations/quotas",
  },
  ATTENTION_KIND_QUOTA_WARNED: {
    checked: "Quotas that are nearly used up",
    title: several("A quota is nearly used up", "quotas are nearly used up"),
    all: "/operations/quotas",
  },
};

/** The rows of what needs attention, the most harmful first. */
export function attentionRows(attention: readonly Attention[], nowMs: number): AttentionRow[] {
  return attention.flatMap((item): AttentionRow[] => {
    const words = WORDS[item.kind];
    if (words === undefined || item.count === "0") return [];
    const [first] = item.subjects;
    const href = item.subjects.length === 1 && first !== undefined ? (words.one?.(first) ?? words.all) : words.all;
    return [
      {
        kind: item.kind,
        title: words.title(item, nowMs),
        line: lineOf(item, nowMs),
        link: href === undefined ? undefined : { href, text: words.action ?? "Open" },
      },
    ];
  });
}

function lineOf({ kind, count: n, pulls, subjects }: Attention, nowMs: number): string {
  if (kind === "ATTENTION_KIND_NO_FEEDS") return "Without feeds, findings are not known";
  const [first] = subjects;
  if (first === undefined) return "";
  const names = subjects.map(({ name }) => shortName(name)).join(", ");
  const named = kind === "ATTENTION_KIND_DELIVERY" ? subjects.length : Number(n);
  const more = named > subjects.length ? ` and ${count(named - subjects.length)} more` : "";
  if (kind === "ATTENTION_KIND_EXPLOITED") return `${names}${more} · ${counted(pulls, "pull")} since yesterday`;
  if (kind === "ATTENTION_KIND_FEED")
    return `${names}${more} · ${first.time === undefined ? "never read" : `last read ${relativeTime(first.time, nowMs)}`}`;
  const detail = subjects.length === 1 && first.detail !== "" ? ` · ${first.detail}` : "";
  return `${names}${more}${detail}`;
}

/** An address without its scheme. */
const shortName = (name: string): string => name.replace(/^https?:\/\//, "");

/** What was not looked at, or not as a whole, a sentence each; and of how many kinds. */
export function attentionGaps(attention: readonly Attention[]): { kinds: number; sentences: string[] } {
  const incomplete = attention.filter(({ gaps }) => gaps.length > 0);
  return {
    kinds: incomplete.length,
    sentences: incomplete.flatMap(({ kind, gaps }) =>
      gaps.map((gap) => `${WORDS[kind]?.checked ?? "Another check"}: ${gapWords(gap)}`),
    ),
  };
}

function gapWords({ reason, count: n, atLeast, missing }: AttentionGap): string {
  const images = `${atLeast ? "at least " : ""}${counted(n, "image")}`;
  switch (reason) {
    case "ATTENTION_GAP_REASON_PERMISSION":
      return `you need ${missing.join(" and ")}`;
    case "ATTENTION_GAP_REASON_TOO_MANY":
      return `${images} not looked at, there are too many`;
    case "ATTENTION_GAP_REASON_NOT_COUNTED":
      return "not all pulls of the last 24 hours were counted";
    case "ATTENTION_GAP_REASON_NO_DATA":
      return "no feed says which are exploited";
    case "ATTENTION_GAP_REASON_UNKNOWN_IMAGES":
      return `findings of ${images} are not known`;
    case "ATTENTION_GAP_REASON_WAITING":
      return "images wait to be compared with the feeds";
    default:
      return "not looked at as a whole";
  }
}
