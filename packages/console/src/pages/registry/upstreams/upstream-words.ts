import type { DetachRegistryUpstreamResponse, RegistryUpstream } from "../../../api/gen/registry.ts";
import { count, counted } from "../../../lib/bytes.ts";
import { durationWords } from "../../../lib/durations.ts";
import type { BadgeLook } from "../../../ui/badge.tsx";

/** How a registry answers. */
export interface HowItAnswers {
  word: string;
  look: BadgeLook;
  /** Since when that is known; undefined where nothing was asked. */
  time: string | undefined;
  /** What is wrong; empty when nothing is known to be. */
  detail: string;
}

/** How the registry of an upstream answered the last request. */
export function howItAnswers(upstream: RegistryUpstream): HowItAnswers {
  const { disabled, lastError, lastErrorTime, lastSuccessTime } = upstream;
  if (disabled) return { word: "Off", look: "plain", time: undefined, detail: "" };
  const isFailing = lastError !== "" && isAfter(lastErrorTime, lastSuccessTime);
  if (isFailing) return { word: "Failing", look: "danger", time: lastErrorTime, detail: lastError };
  if (lastSuccessTime === undefined) return { word: "Not asked yet", look: "outline", time: undefined, detail: "" };
  return { word: "Answers", look: "success", time: lastSuccessTime, detail: "" };
}

function isAfter(time: string | undefined, other: string | undefined): boolean {
  return time !== undefined && (other === undefined || Date.parse(time) > Date.parse(other));
}

/** How many requests the registry lets through, as it last said; that it said nothing is an answer of its own. */
export function rateWords({ rate }: RegistryUpstream): string {
  if (rate === undefined) return "not stated";
  return `${count(rate.remaining)} of ${count(rate.limit)}`;
}

/** What of a registry is followed: `images matching acme/.*, all tags`; `nothing` without follow. */
export function followWords({ follow }: RegistryUpstream): string {
  if (follow === undefined) return "nothing";
  const { repoPattern, tagPattern } = follow;
  const repos = repoPattern === "" ? "all images" : `images matching ${repoPattern}`;
  return tagPattern === "" ? `${repos}, all tags` : `${repos}, tags matching ${tagPattern}`;
}

/** What of that which is followed is not here, by the turn that ended last. */
export function missingWords({ followState }: RegistryUpstream): string {
  if (followState === undefined) return "";
  const { lastAttemptTime, repositories, missingRepositories, tags, missingTags } = followState;
  if (lastAttemptTime === undefined) return "not known yet";
  return (
    `${count(missingRepositories)} of ${counted(repositories, "image")}, ` +
    `${count(missingTags)} of ${counted(tags, "tag")}`
  );
}

/** That what is followed is not all here; empty when it is, or when nothing is known to be wrong. */
export function copyFault({ disabled, followState }: RegistryUpstream): string {
  if (disabled) return "";
  if (followState?.state === "SYNC_STATE_FAILED") return "Copying failed";
  return followState?.state === "SYNC_STATE_RATE_LIMITED" ? "Copying is limited by the registry" : "";
}

/** A duration of the API as a fact, or what holds without it. */
export function lengthWords(duration: string | undefined, without: string): string {
  if (duration === undefined) return without;
  const words = durationWords(duration);
  return /^\d/.test(words) ? words : `1 ${words}`;
}

/** Names, one beside the other, or what holds without any. */
export function nameWords(names: readonly string[], without: string): string {
  return names.length === 0 ? without : names.join(", ");
}

/** What stays of a registry when its upstream ends, and what may be behind or missing; each a line. */
export function stayingWords(
  stays: DetachRegistryUpstreamResponse,
): readonly (readonly [name: string, words: string])[] {
  const { repos, tags, staleTags, missingRepositories, missingTags, late } = stays;
  return [
    ["Stays", `${counted(repos, "image")} with ${counted(tags, "tag")}`],
    ["May be behind", `${counted(staleTags, "tag")}, not compared with the registry within the time to live`],
    ...(missingRepositories === undefined || missingTags === undefined
      ? []
      : ([["Did not come", `${counted(missingRepositories, "image")}, ${counted(missingTags, "tag")}`]] as const)),
    ...(late === undefined ? [] : ([["Last complete turn began", `${ago(late)} ago`]] as const)),
  ];
}

function ago(late: string): string {
  const seconds = Number.parseFloat(late);
  if (seconds < 60) return counted(Math.floor(seconds), "second");
  if (seconds < 3_600) return counted(Math.floor(seconds / 60), "minute");
  return seconds < 86_400 ? counted(Math.floor(seconds / 3_600), "hour") : counted(Math.floor(seconds / 86_400), "day");
}
