import type { Identity } from "../../api/gen/iam.ts";
import { Card, Facts } from "../../ui/page.tsx";
import { Time } from "../../ui/time.tsx";
import { assumedBy, seenTime } from "./identity-words.ts";
import { toLines } from "./parts/lines.ts";
import { Place } from "./parts/place.tsx";
import { parentOf } from "./parts/tree.ts";

/** What is known of an identity. */
export function IdentityFacts({ identity }: { identity: Identity }) {
  const { uid, description, email, emailUnverified, groupsLeftOut } = identity;
  const { claimMatch, staticKeys, createTime } = identity;
  return (
    <Card>
      <Facts
        facts={[
          ["Description", description],
          ["E-mail", email],
          ["Email, not verified", emailUnverified],
          ["Groups left out of the last sign-in", groupsLeftOut],
          ["Assumed by", assumedBy(identity)],
          ["Issuer", code(claimMatch?.issuer ?? staticKeys?.issuer)],
          ["Issuer by pattern", code(claimMatch?.issuerPattern)],
          ["Subject", code(claimMatch?.subject ?? staticKeys?.subject)],
          ["Subject by pattern", code(claimMatch?.subjectPattern)],
          ["Audience", code(claimMatch?.audience ?? staticKeys?.audiences.join(", "))],
          ["Audience by pattern", code(claimMatch?.audiencePattern)],
          ["Further claims", code(claimMatch && toLines(claimMatch.claims))],
          ["Claims by pattern", code(claimMatch && toLines(claimMatch.claimPatterns))],
          ["Keys end", staticKeys && <Time value={staticKeys.expirationTime} />],
          ["Last seen", <Time key="seen" value={seenTime(identity)} />],
          ["Group", <Place key="group" uid={parentOf(uid)} />],
          ["Created", <Time key="made" value={createTime} />],
          ["uid", code(uid)],
        ]}
      />
    </Card>
  );
}

function code(text: string | undefined) {
  return text === undefined || text === "" ? undefined : <code>{text}</code>;
}
