import { objectsIn } from "../api/json-fields.ts";
import type { JsonObject } from "../api/rest.ts";
import { enumWord, textAt, valueAt } from "./column-kinds.ts";

/** How many there are of a kind that may need attention: `unknown` where it was not looked at at all. */
export function countOfAttention(item: JsonObject): string {
  const count = textAt(item, "count");
  const isLeft = objectsIn(item, "gaps").some((gap) => WHOLE.has(textAt(gap, "reason")));
  if (count === "0" && isLeft) return "unknown";
  return valueAt(item, "atLeast") === true ? `${count}+` : count;
}

/** Why a kind was not looked at, or not as a whole: `unknown-images 3, waiting`. */
export function gapsOfAttention(item: JsonObject): string {
  return objectsIn(item, "gaps")
    .map((gap) => {
      const count = textAt(gap, "count");
      const plus = valueAt(gap, "atLeast") === true ? "+" : "";
      const missing = textAt(gap, "missing");
      const words = [enumWord(valueAt(gap, "reason"), "ATTENTION_GAP_REASON_"), missing];
      return [...words, count === "0" ? "" : `${count}${plus}`].filter((word) => word !== "").join(" ");
    })
    .join(", ");
}

/** The reasons for which nothing was looked at. */
const WHOLE: ReadonlySet<string> = new Set(["ATTENTION_GAP_REASON_PERMISSION", "ATTENTION_GAP_REASON_NO_DATA"]);
