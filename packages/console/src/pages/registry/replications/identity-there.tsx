import { Note } from "../../../ui/note.tsx";
import { Facts } from "../../../ui/page.tsx";
import { audienceOf } from "./identity-words.ts";

export interface IdentityThereProps {
  /** The uid of the group whose images are pushed. */
  group: string;
  destination: string;
}

/** What the identity at another Moorage must accept, so that this server can push as it. */
export function IdentityThere({ group, destination }: IdentityThereProps) {
  const audience = audienceOf(destination);
  return (
    <Note>
      <p>An administrator there must allow the identity to be assumed with tokens that say:</p>
      <Facts
        facts={[
          ["Issuer", <code key="issuer">{window.location.origin}</code>],
          ["Subject", <code key="subject">replication:{group}</code>],
          [
            "Audience",
            audience === undefined ? "once you enter the destination" : <code key="audience">{audience}</code>,
          ],
        ]}
      />
      <p>It needs roles there that can push, and CAP_TAG_IMPORT for the times of moves.</p>
    </Note>
  );
}
