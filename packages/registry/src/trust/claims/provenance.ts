import { isObject } from "@moorage/kernel/lib/json";

/** What a provenance of SLSA says of a build, in the terms of rules. */
export interface Build {
  builderId: string;
  buildType: string;
  /** Each place in which it names the source that was built; `ref`: its branch or tag, may be empty. */
  sources: readonly { uri: string; ref: string }[];
}

/** The predicates of SLSA that are read. */
export const SLSA_TYPES: ReadonlySet<string> = new Set([
  "https://slsa.dev/provenance/v0.2",
  "https://slsa.dev/provenance/v1",
]);
/** Longer texts count as missing. */
const MAX_TEXT = 2 << 10;

/**
 * Reads a provenance; undefined for other predicates. Of SLSA 1 the source is what the known kinds of builds call it:
 * GitHub's workflow, and the source of SLSA's generators and of BuildKit. Source: slsa.dev/spec/v0.2 and v1.0,
 * provenance; slsa-framework/github-actions-buildtypes, workflow/v1; moby/buildkit, docs/attestations/slsa-definitions.
 */
export function buildOf(predicateType: string, predicate: unknown): Build | undefined {
  if (!SLSA_TYPES.has(predicateType)) return undefined;
  if (predicateType.endsWith("/v0.2"))
    return {
      builderId: textAt(predicate, "builder", "id"),
      buildType: textAt(predicate, "buildType"),
      sources: sourcesIn([[textAt(predicate, "invocation", "configSource", "uri"), ""]]),
    };
  const parameters = at(predicate, "buildDefinition", "externalParameters");
  return {
    builderId: textAt(predicate, "runDetails", "builder", "id"),
    buildType: textAt(predicate, "buildDefinition", "buildType"),
    sources: sourcesIn([
      [textAt(parameters, "workflow", "repository"), textAt(parameters, "workflow", "ref")],
      [textAt(parameters, "source"), ""],
      [textAt(parameters, "source", "uri"), ""],
      [textAt(parameters, "configSource", "uri"), ""],
    ]),
  };
}

/** The source without `git+`, and without what says its branch or tag, as `@refs/heads/main` or `#main:folder`. */
export function sourceOf(text: string): { uri: string; ref: string } {
  const plain = text.startsWith("git+") ? text.slice("git+".length) : text;
  const hash = plain.indexOf("#");
  if (hash >= 0) return { uri: plain.slice(0, hash), ref: plain.slice(hash + 1).split(":", 1)[0] ?? "" };
  const ref = plain.lastIndexOf("@refs/");
  return ref < 0 ? { uri: plain, ref: "" } : { uri: plain.slice(0, ref), ref: plain.slice(ref + 1) };
}

function sourcesIn(found: readonly (readonly [uri: string, ref: string])[]): Build["sources"] {
  return found
    .filter(([text]) => text !== "")
    .map(([text, ref]) => {
      const source = sourceOf(text);
      return ref === "" ? source : { uri: source.uri, ref };
    });
}

function at(value: unknown, ...names: readonly string[]): unknown {
  return names.reduce<unknown>(
    (each, name) => (isObject(each) && Object.hasOwn(each, name) ? each[name] : undefined),
    value,
  );
}

function textAt(value: unknown, ...names: readonly string[]): string {
  const text = at(value, ...names);
  return typeof text === "string" && text.length <= MAX_TEXT ? text : "";
}
