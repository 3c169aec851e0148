import { IdentityName } from "../../lib/identity-name.tsx";

const BY_SERVER = ["mirror", "retention"];

/** Who moved a tag. Only who may list the events of a repo sees that. */
export function Mover({ actor, reason }: { actor: string; reason: string }) {
  if (actor !== "") return <IdentityName uid={actor} />;
  if (BY_SERVER.includes(reason)) return <span>the server</span>;
  return <span title="It takes the right to list events here">not shown</span>;
}
