import type { Replication, ReplicationItemState } from "../../../api/gen/registry.ts";
import { count, counted } from "../../../lib/bytes.ts";
import { durationWords } from "../../../lib/durations.ts";
import type { BadgeLook } from "../../../ui/badge.tsx";

/** How far a replication is. */
export interface HowFar {
  word: string;
  look: BadgeLook;
  /** What that means, and what is wrong; empty where there is nothing to say. */
  detail: string;
}

/** How the server begins what it says of a rule that no tag matches. */
const NOTHING = "no tag below the group matches";

/** How far a replication is, in a word or two and a sentence. */
export function howFar({ disabled, state, onPush, interval }: Replication): HowFar {
  if (disabled) return { word: "Paused", look: "plain", detail: "Nothing is pushed until it is resumed." };
  if (state === undefined) return { word: "Not known", look: "outline", detail: "" };
  const { lastError, late, lastSuccessTime } = state;
  const [pending, running, failed, blocked] = [state.pending, state.running, state.failed, state.blocked].map(Number);
  const detail = sentence(lastError);
  if (lastError.startsWith(NOTHING)) return { word: "Nothing matches", look: "warning", detail };
  if (failed) return { word: "Failed", look: "danger", detail };
  if (blocked) return { word: "Blocked", look: "danger", detail };
  if (running) return { word: "Pushing", look: "accent", detail };
  // What is stopped waits for nothing: the server says no longer for how long.
  if (pending && late === undefined)
    return {
      word: "Stopped",
      look: "warning",
      detail: "It continues when a tag moves, at the next interval, or when run manually.",
    };
  if (pending && lastError !== "") return { word: "Retrying", look: "warning", detail };
  if (pending) return { word: "Waiting", look: "accent", detail };
  if (lastError !== "") return { word: "Problem", look: "warning", detail };
  if (lastSuccessTime !== undefined) return { word: "Up to date", look: "success", detail: "" };
  const isSoon = onPush || interval !== undefined;
  return {
    word: "Nothing pushed yet",
    look: "outline",
    detail: isSoon ? "All tags will be compared soon." : "Tags are compared only when run manually.",
  };
}

/** How many items are not at the destination, by why: `3 waiting or stopped, 1 failed`. */
export function itemWords({ state }: Replication): string {
  if (state === undefined) return "not known";
  const words = (
    [
      [state.running, "being pushed"],
      [state.pending, "waiting or stopped"],
      [state.failed, "failed"],
      [state.blocked, "blocked"],
    ] as const
  ).flatMap(([number, word]) => (number === "0" ? [] : [`${count(number)} ${word}`]));
  // What was never compared, or matches nothing, has not arrived either.
  return words.join(", ") || (state.lastSuccessTime === undefined ? "nothing so far" : "nothing left");
}

/** What a replication is about. */
export function matchWords({ repoPattern, tagPattern }: Replication): string {
  const repos = repoPattern === "" ? "all images" : `images matching ${repoPattern}`;
  return tagPattern === "" ? `${repos}, all tags` : `${repos}, tags matching ${tagPattern}`;
}

/** When tags are pushed. */
export function whenWords({ onPush, interval }: Replication): string {
  if (interval === undefined) return onPush ? "when a tag moves" : "only when run manually";
  const every = `every ${durationWords(interval)}`;
  return onPush ? `when a tag moves, all compared ${every}` : every;
}

/** How long the item has waited that waits the longest; empty when none does. */
export function lateWords({ state }: Replication): string {
  const seconds = Number.parseFloat(state?.late ?? "0");
  if (seconds < 60) return "";
  if (seconds < 3_600) return counted(Math.floor(seconds / 60), "minute");
  return seconds < 86_400 ? counted(Math.floor(seconds / 3_600), "hour") : counted(Math.floor(seconds / 86_400), "day");
}

const ITEMS: Record<ReplicationItemState, readonly [word: string, look: BadgeLook]> = {
  REPLICATION_ITEM_STATE_PENDING: ["Waiting", "accent"],
  REPLICATION_ITEM_STATE_RUNNING: ["Pushing", "accent"],
  REPLICATION_ITEM_STATE_DONE: ["Done", "success"],
  REPLICATION_ITEM_STATE_FAILED: ["Failed", "danger"],
  REPLICATION_ITEM_STATE_BLOCKED: ["Blocked", "danger"],
  REPLICATION_ITEM_STATE_STOPPED: ["Stopped", "warning"],
};

/** How far an item is, in a word. */
export function itemWord(state: ReplicationItemState): readonly [word: string, look: BadgeLook] {
  return (ITEMS as Partial<typeof ITEMS>)[state] ?? ["Not known", "outline"];
}

/** The states of items by their words, as a filter has them. */
export const ITEM_STATES: readonly (readonly [word: string, state: ReplicationItemState])[] = (
  Object.keys(ITEMS) as ReplicationItemState[]
).map((state) => [ITEMS[state][0].toLowerCase(), state]);

function sentence(text: string): string {
  return text === "" ? "" : `${text}${text.endsWith(".") ? "" : "."}`;
}
