import type { TrustRoot } from "../../../../api/gen/registry.ts";
import { durationWords } from "../../../../lib/durations.ts";
import type { BadgeLook } from "../../../../ui/badge.tsx";
import { contentOf, hasEnded } from "./root-content.ts";

/** Whether identities are verified by a trust root. */
export interface RootState {
  word: string;
  look: BadgeLook;
  /** What that means, and why; empty where there is nothing to say. */
  detail: string;
}

const DEFAULT_INTERVAL = "86400s";
// A refresh may be late: one replica does it for all, with a pause after a mirror that does not answer.
const LATE = 2;
const NOT_VERIFIED = "What is signed by identities that name it does not hold.";

/** What is known of a trust root at a time, in milliseconds since 1970. */
export function rootState(root: TrustRoot, nowMs: number): RootState {
  const { state, message, tuf, refreshTime } = root;
  const why = message === "" ? "" : `${message}. `;
  if (state === "TRUST_ROOT_STATE_WAITING")
    return { word: "Not fetched", look: "warning", detail: `${why}${NOT_VERIFIED}` };
  if (state === "TRUST_ROOT_STATE_EXPIRED") return { word: "Expired", look: "danger", detail: `${why}${NOT_VERIFIED}` };
  if (state === "TRUST_ROOT_STATE_TOO_FEW")
    return { word: "Names too few", look: "danger", detail: `${why}${NOT_VERIFIED}` };
  if (state === "TRUST_ROOT_STATE_FAILED")
    return { word: "Failed", look: "danger", detail: `${why}What was fetched before counts until it expires.` };
  if (state !== "TRUST_ROOT_STATE_READY") return { word: "Not known", look: "outline", detail: why.trim() };
  if (tuf === undefined) return pastedState(root, nowMs);
  if (refreshTime === undefined)
    return { word: "Not known", look: "outline", detail: "When it was last fetched is not known." };
  const interval = tuf.interval ?? DEFAULT_INTERVAL;
  const lateMs = LATE * Number.parseFloat(interval) * 1_000;
  if (nowMs - Date.parse(refreshTime) > lateMs)
    return {
      word: "Not refreshed",
      look: "warning",
      detail: `It should be refreshed every ${durationWords(interval)}. What was fetched before counts until it expires.`,
    };
  return { word: "Ready", look: "success", detail: "" };
}

function pastedState({ trustedRoot }: TrustRoot, nowMs: number): RootState {
  const parts = contentOf(trustedRoot);
  if (parts === undefined)
    return { word: "Not known", look: "outline", detail: "What it names cannot be read by this page." };
  if (!hasEnded(parts, nowMs)) return { word: "Ready", look: "success", detail: "" };
  return {
    word: "Not valid now",
    look: "warning",
    detail: "None of its authorities counts now: what was signed in their time holds, what is signed now does not.",
  };
}
