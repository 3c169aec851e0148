import { Note } from "../../../ui/note.tsx";
import type { Values } from "../../access/parts/resource.ts";
import { IdentityThere } from "./identity-there.tsx";

export interface ReplicationNotesProps {
  values: Values;
  /** The uid of the group whose images are pushed. */
  group: string;
}

/** What a replication as it is typed needs at its destination, and what it takes away there. */
export function ReplicationNotes({ values, group }: ReplicationNotesProps) {
  return (
    <>
      {values["signIn"] === "identity" && <IdentityThere group={group} destination={values["destination"] ?? ""} />}
      <Warnings values={values} />
    </>
  );
}

function Warnings({ values }: { values: Values }) {
  const overwrites = values["onConflict"] === "REPLICATION_CONFLICT_OVERWRITE";
  const deletes = values["deletions"] === "REPLICATION_DELETIONS_FOLLOW";
  if (!overwrites && !deletes) return null;
  return (
    <Note look="warning">
      {overwrites && (
        <p>
          <strong>It overwrites.</strong> Matching tags at the destination point to the images of this server, whoever
          pushed what they pointed to before. Content there that no other tag points to may be lost.
        </p>
      )}
      {deletes && (
        <p>
          <strong>It deletes.</strong> Tags that are deleted here are deleted there, too; more than a tenth of them
          within an hour only by a run that is asked to.
        </p>
      )}
    </Note>
  );
}
