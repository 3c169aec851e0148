import type { Call } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import { requireTerms } from "@moorage/platform/iam";
import type { Row } from "@moorage/kernel/store";
import { REMOVE } from "../ecosystem/ecosystem.ts";
import { ecosystemOf } from "../ecosystem/lookup.ts";
import type { Plan } from "../ecosystem/plan.ts";
import { libraryError } from "../http/errors.ts";
import { requireOn } from "../http/groups.ts";
import { removeVersions, withdraw } from "./changes.ts";
import { noteChange } from "./events.ts";
import { artifactNamed } from "./names.ts";
import type { PublishContext, PublishTarget } from "./publish.ts";
import { versionNamed, versionsOf } from "./visible.ts";
import { settleArtifact } from "./write.ts";

/** What is changed, and where. @public in the packed package's declarations. */
export interface ChangeInput extends PublishTarget {
  /** The number of the ecosystem. */
  ecosystem: number;
  normalized: string;
  /** The name of the change among those of the ecosystem, and what its client sent of it. */
  change: string;
  input: unknown;
}

/**
 * Makes a change that a client of an ecosystem asks for, of an artifact that is there: the ecosystem plans it. The
 * right to it is asked for again in its transaction, and documents that block pushes block what takes the right to
 * publish. Throws 404 where there is no such artifact.
 */
export const changeLibrary = command(
  "libraries.changeLibrary",
  async (call: Call, asked: ChangeInput, { terms }: PublishContext): Promise<void> => {
    const { group, path, normalized, change: name, input } = asked;
    const ecosystem = ecosystemOf(asked.ecosystem);
    const change = ecosystem.changes[name];
    if (change === undefined) throw new Error(`${ecosystem.key} has no change ${name}`);
    await requireOn(call, group, path, change.removes ? REMOVE : ecosystem.publish);
    const artifact = await artifactNamed(call.tx, { group, ecosystem, normalized });
    if (artifact === undefined) throw libraryError(404, `Not found: ${normalized}`);
    const { uid } = artifact;
    const plan = await change.plan({
      artifact,
      input: input as never,
      versions: () => versionsOf(call.tx, uid),
      version: (version) => versionNamed(call.tx, uid, version),
    });
    await carryOut(call, artifact, plan);
    if (!change.removes && terms.length > 0) await requireTerms(call, terms, "push", [group]);
  },
);

async function carryOut(call: Call, artifact: Row<"artifacts">, plan: Plan): Promise<void> {
  if (plan === undefined) return;
  if ("isRemoved" in plan) return await removeVersions(call, artifact, plan.isRemoved, plan.settle);
  if ("withdrawn" in plan) {
    for (const { version, changes } of plan.withdrawn) await withdraw(call, artifact, version, changes);
    if (plan.withdrawn.length > 0) await settleArtifact(call, artifact);
    return;
  }
  const { artifact: changes, version, change } = plan;
  await settleArtifact(call, artifact, changes);
  await noteChange(call, artifact, { what: "changed", version, change });
}
