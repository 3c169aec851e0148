import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Signer } from "../../../api/gen/registry.ts";
import { parentUid } from "../../../lib/uid.ts";
import { Note } from "../../../ui/note.tsx";
import { listOf } from "../../access/parts/lines.ts";
import styles from "../../access/parts/parts.module.css";
import type { OwnField } from "../../access/parts/resource.ts";
import { allSignersQuery } from "./queries.ts";

/** Who may have signed: signers of the group of a policy and of those above it. */
export function SignerChoice({ group, value, onChange, error }: OwnField & { group: string }) {
  const { data, isPending } = useQuery(allSignersQuery);
  const chosen = new Set(listOf(value));
  const choices = (data ?? []).filter((signer) => signsIn(signer, group) || chosen.has(signer.uid));
  const toggle = (uid: string): void => {
    if (!chosen.delete(uid)) chosen.add(uid);
    onChange([...chosen].join("\n"));
  };
  return (
    <div>
      <fieldset className={styles.fieldset}>
        <legend>Signed by any of</legend>
        {choices.map(({ uid, name, description }) => (
          <label key={uid} title={description}>
            <input type="checkbox" checked={chosen.has(uid)} onChange={() => toggle(uid)} />
            {name}
          </label>
        ))}
      </fieldset>
      {!isPending && choices.length === 0 && (
        <Note look="warning">
          This group has no signer that you see, and neither have those above it.{" "}
          <Link to="/signatures/signers" search={{ group }}>
            Create a signer
          </Link>{" "}
          first.
        </Note>
      )}
      {error !== undefined && (
        <div role="alert">
          <Note look="warning">{error}</Note>
        </div>
      )}
    </div>
  );
}

/** Whether the signer is of the group, or of one above it. */
function signsIn({ uid }: Signer, group: string): boolean {
  const own = parentUid(uid);
  return group === own || group.startsWith(`${own}/`);
}
