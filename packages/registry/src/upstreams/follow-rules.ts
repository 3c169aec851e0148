import { fromJsonString } from "@bufbuild/protobuf";
import { type RegistryUpstream, UpstreamFollowSchema } from "@moorage/api/messages";
import type { FieldViolation } from "@moorage/kernel/errors";
import { compilePattern, PatternError } from "@moorage/kernel/lib/patterns";
import { MAX_TAG_STEPS } from "../registry/index.ts";

/** What is copied of a registry without being pulled. */
export interface FollowRules {
  /** Whether a repository is followed, by its name at the registry. */
  wantsRepo(name: string): boolean;
  wantsTag(tag: string): boolean;
  intervalMs: number;
  /** Whether what is deleted there is deleted here. */
  isExact: boolean;
  /** Whether what tags pointed to before is copied, too, where that is known. */
  hasHistory: boolean;
}

const DEFAULT_INTERVAL_MS = 3_600_000;
const MIN_INTERVAL_S = 60n;
const MAX_INTERVAL_S = 30n * 24n * 3600n;

/** The rules of `registry_upstreams.follow`. */
export function followRules(column: string): FollowRules {
  const { repoPattern, tagPattern, interval, exact, history } = fromJsonString(UpstreamFollowSchema, column);
  return {
    wantsRepo: matcher(repoPattern),
    wantsTag: matcher(tagPattern),
    intervalMs: interval === undefined ? DEFAULT_INTERVAL_MS : Number(interval.seconds) * 1_000,
    isExact: exact,
    hasHistory: history,
  };
}

function matcher(pattern: string): (text: string) => boolean {
  if (pattern === "") return () => true;
  const compiled = compilePattern(pattern);
  return (text) => compiled.matches(text);
}

/** What is wrong with what an upstream follows. */
export function followFaults({ follow, cooldown, keepUnpulled, maxBytes }: RegistryUpstream): FieldViolation[] {
  if (follow === undefined) return [];
  const found: FieldViolation[] = [];
  const wrong = (field: string, description: string | undefined): void => {
    if (description !== undefined) found.push({ field, description });
  };
  const { repoPattern, tagPattern, interval } = follow;
  wrong("follow.repoPattern", patternFault(repoPattern));
  wrong("follow.tagPattern", patternFault(tagPattern));
  if (
    interval !== undefined &&
    (interval.nanos !== 0 || interval.seconds < MIN_INTERVAL_S || interval.seconds > MAX_INTERVAL_S)
  )
    wrong("follow.interval", "must be whole seconds, from one minute to 30 days");
  // It would move tags to what is too young to be pulled.
  if (cooldown !== undefined && cooldown.seconds > 0n) wrong("follow", "does not go with a cooldown");
  // Each turn would bring again what went.
  if (keepUnpulled !== undefined) wrong("follow", "does not go with keep_unpulled");
  if (maxBytes > 0n) wrong("follow", "does not go with max_bytes");
  return found;
}

function patternFault(pattern: string): string | undefined {
  try {
    return pattern !== "" && compilePattern(pattern).steps > MAX_TAG_STEPS ? "is too complex" : undefined;
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    return error.message;
  }
}
