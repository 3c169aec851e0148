import { Note } from "../../../ui/note.tsx";
import type { Values } from "../../access/parts/resource.ts";

/** What an upstream as it is typed takes away here. */
export function ExactNote({ values }: { values: Values }) {
  if (values["isFollowed"] !== "true" || values["follow.exact"] !== "true") return null;
  return (
    <Note look="warning">
      <p>
        <strong>It deletes.</strong> Tags that were copied from the registry and are gone there are deleted here, at
        most a tenth of all tags within an hour.
      </p>
    </Note>
  );
}
