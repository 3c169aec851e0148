import { useQueries, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { listRoleBindings, type RoleBinding, testCapabilities } from "../../../api/gen/iam.ts";
import { query } from "../../../api/queries.ts";
import { Note } from "../../../ui/note.tsx";
import { LETS_IN } from "./open-identities.ts";

/** Says in red that a group or an image is public, by which binding; that it is not known; nothing where it is not. */
export function PublicAccess({ uid }: { uid: string }) {
  const groups = uid.split("/").map((_, at, parts) => parts.slice(0, at + 1).join("/"));
  const [root = ""] = groups;
  const answers = useQueries({
    queries: groups.flatMap((group) =>
      (["everybody", "signed-in"] as const).map((identity) =>
        query(listRoleBindings, { group, identity, pageSize: 1 }),
      ),
    ),
  });
  // Lists leave out what the person may not see, and who may list the members of the organization sees all below it.
  const rights = useQuery(query(testCapabilities, { uid: root }));
  const found = answers.flatMap(({ data }) => data?.roleBindings ?? []);
  const binding = found.find(({ identity }) => identity?.uid === "everybody") ?? found[0];
  if (binding !== undefined) return <PublicNote binding={binding} />;
  if (rights.isPending || answers.some(({ isPending }) => isPending)) return null;
  const failed = [rights, ...answers].find(({ isError }) => isError);
  if (failed !== undefined) return <UnknownNote why={`the members could not be read: ${messageOf(failed.error)}`} />;
  if (rights.data?.capabilities.includes("CAP_IAM_ROLE_BINDINGS_LIST") === true) return null;
  return <UnknownNote why="you cannot list the members of all groups above" />;
}

function UnknownNote({ why }: { why: string }) {
  return <Note>Whether this is public is not known: {why}.</Note>;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
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
