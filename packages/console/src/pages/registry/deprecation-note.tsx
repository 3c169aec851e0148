import { Link } from "@tanstack/react-router";
import type { RepoDeprecation } from "../../api/gen/registry.ts";
import { isPast } from "../../lib/time.ts";
import { Note } from "../../ui/note.tsx";
import { Time } from "../../ui/time.tsx";

/** That an image is not to be used any longer: why, what to use instead, and what becomes of pulls. */
export function Deprecated({ deprecation }: { deprecation: RepoDeprecation }) {
  const { message, replacement, endTime, block } = deprecation;
  return (
    <Note look="warning">
      <strong>Deprecated.</strong> {message !== "" && `${sentence(message)} `}
      {replacement !== "" && (
        <>
          Use{" "}
          {replacement.includes(":") ? (
            <Link to="/tag" search={{ name: replacement }}>
              {replacement}
            </Link>
          ) : (
            <Link to="/repo" search={{ name: replacement }}>
              {replacement}
            </Link>
          )}{" "}
          instead.{" "}
        </>
      )}
      <Ends endTime={endTime} block={block} />
    </Note>
  );
}

function Ends({ endTime, block }: { endTime: string | undefined; block: boolean }) {
  const hasEnded = endTime === undefined || isPast(endTime);
  if (hasEnded) return <>{block ? "Pulls are rejected." : "Pulls are answered with a warning."}</>;
  return (
    <>
      It ends <Time value={endTime} />:{" "}
      {block ? "pulls are rejected from then on." : "pulls are answered with a warning."}
    </>
  );
}

function sentence(text: string): string {
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(begun) ? begun : `${begun}.`;
}
