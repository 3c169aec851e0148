import type { Row } from "@moorage/kernel/store";
import type { Change } from "../ecosystem/ecosystem.ts";
import type { PlanContext } from "../ecosystem/plan.ts";
import { libraryError } from "../http/errors.ts";
import { stateOf } from "./manifest.ts";
import { settledPackage } from "./versions.ts";

// What npm changes of a package that is there.

/** What of a change its client sent. */
interface Of<Input> extends Omit<PlanContext, "input"> {
  input: Input;
}

/** Changes which versions are deprecated: `texts` has the reason by version, empty to end it. */
export const deprecate: Change = {
  removes: false,
  async plan({ input, versions }: Of<{ texts: Record<string, string> }>) {
    const changed = (await versions()).filter(({ version, deprecated }) => {
      const text = input.texts[version];
      return text !== undefined && (deprecated ?? "") !== text;
    });
    return {
      withdrawn: changed.map((version) => ({
        version,
        changes: { deprecated: input.texts[version.version] || null },
      })),
    };
  },
};

/** Has a tag point to a version, or removes it with an empty one. `latest` is never removed. */
export const tag: Change = {
  removes: false,
  async plan({ artifact, input, version: versionNamed }: Of<{ tag: string; version: string }>) {
    const { tag: name, version } = input;
    if (version === "" && name === "latest") throw libraryError(400, "Invalid argument: tag: latest is not removed");
    const row = version === "" ? undefined : await versionNamed(version);
    if (version !== "" && row === undefined)
      throw libraryError(400, `Invalid argument: version: there is no version ${version} of ${artifact.normalized}`);
    const state = stateOf(artifact.state);
    if ((state.tags[name] ?? "") === version) return undefined;
    const { [name]: _, ...others } = state.tags;
    const tags = version === "" ? others : { ...state.tags, [name]: version };
    return {
      artifact: {
        state: JSON.stringify({ ...state, tags }),
        latestVersion: tags["latest"] ?? "",
        ...(name === "latest" && row !== undefined && { description: row.description }),
      },
      version,
      change: `tag ${name}`,
    };
  },
};

/**
 * Removes versions, or with none named the whole package. `rev`: the revision that the client has read. Throws 409 when
 * the package has changed since.
 */
export const unpublish: Change = {
  removes: true,
  async plan({ artifact, input }: Of<{ rev: string; keep: string[] | undefined; tags: Record<string, string> }>) {
    if (input.rev !== revOf(artifact))
      throw libraryError(409, `Aborted: ${artifact.normalized} has changed since it was read: try again`);
    const keep = new Set(input.keep);
    return {
      isRemoved: ({ version }) => !keep.has(version),
      settle: (kept) => settledPackage(artifact, kept, input.tags),
    };
  },
};

/** The revision of a package, which clients send back to change it. */
export function revOf({ uid, revision }: Pick<Row<"artifacts">, "uid" | "revision">): string {
  return `${revision}-${uid.slice(uid.lastIndexOf("/") + 1)}`;
}
