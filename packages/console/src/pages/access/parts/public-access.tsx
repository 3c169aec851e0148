import { useQueries } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { listRoleBindings, type RoleBinding } from "../../../api/gen/iam.ts";
import { query } from "../../../api/queries.ts";
import { Note } from "../../../ui/note.tsx";

/** Whom a binding of a built-in identity lets in, in a word; undefined for those of people and machines. */
export function openTo(identity: string): string | undefined {
  if (identity === "everybody") return "Public";
  return identity === "signed-in" ? "All signed in" : undefined;
}

const LETS_IN = {
  everybody: "everybody can pull from here, also without a log-in",
  "signed-in": "whoever is signed in to this installation can pull from here",
} as const;

/** Says in red that a group or an image is public, by which binding; nothing where it is not. */
export function PublicAccess({ uid }: { uid: string }) {
  const groups = uid.split("/").map((_, at, parts) => parts.slice(0, at + 1).join("/"));
  const answers = useQueries({
    queries: groups.flatMap((group) =>
      (["everybody", "signed-in"] as const).map((identity) =>
        query(listRoleBindings, { group, identity, pageSize: 1 }),
      ),
    ),
  });
  const found = answers.flatMap(({ data }) => data?.roleBindings ?? []);
  const binding = found.find(({ identity }) => identity?.uid === "everybody") ?? found[0];
  return binding === undefined ? null : <PublicNote binding={binding} />;
}

function PublicNote({ binding: { uid, identity, group, inactiveReason } }: { binding: RoleBinding }) {
  const who = identity?.uid === "everybody" ? "everybody" : "signed-in";
  const parent = uid.slice(0, Math.max(uid.lastIndexOf("/"), 0));
  const by = (
    <Link to="/access/bindings" search={{ group: parent }}>
      Members of {group?.name}
    </Link>
  );
  if (inactiveReason !== undefined)
    return (
      <Note>
        Bound to {who} in {by}, which has no effect: {inactiveReason}.
      </Note>
    );
  return (
    <Note look="danger">
      <strong>Public:</strong> {LETS_IN[who]}, by a role in {by}.
    </Note>
  );
}
