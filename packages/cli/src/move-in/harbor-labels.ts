// Labels of Harbor's images, which become bundles of their tags. Source: Harbor's api/v2.0/swagger.yaml.
import { isList, isObject } from "@moorage/kernel/lib/json";
import type { Fields } from "./harbor-api.ts";
import type { SourceTag } from "./model.ts";
import { MAX_BUNDLE, MAX_BUNDLES } from "./plan.ts";

/** The names of an image's labels, each once; what of them does not come is noted. */
export function labelsOf(artifact: Fields): Pick<SourceTag, "labels" | "note"> {
  const listed = artifact["labels"] ?? [];
  if (!isList(listed)) return { note: "its labels cannot be read" };
  const names = listed.map((each) => (isObject(each) ? each["name"] : undefined));
  const come = [...new Set(names.filter(isBundle))].slice(0, MAX_BUNDLES);
  const left = new Set(names.filter(isBundle)).size - come.length + names.filter((name) => !isBundle(name)).length;
  const note = left === 0 ? {} : { note: `${left === 1 ? "1 label" : `${left} labels`} of it cannot come` };
  return { ...(come.length > 0 && { labels: come }), ...note };
}

function isBundle(name: unknown): name is string {
  return typeof name === "string" && name !== "" && name.length <= MAX_BUNDLE && !/\p{C}/u.test(name);
}
