import { Link } from "@tanstack/react-router";
import type { Signature, SignatureVerdict } from "../../../../api/gen/registry.ts";
import { shortDigest } from "../../../../lib/digest.ts";
import { IdentityName } from "../../../../lib/identity-name.tsx";
import { Badge } from "../../../../ui/badge.tsx";
import { Button } from "../../../../ui/button.tsx";
import { Dialog } from "../../../../ui/dialog.tsx";
import { Card, Facts, Stack } from "../../../../ui/page.tsx";
import { Time } from "../../../../ui/time.tsx";
import { formatWords, nameOf, purposeWords, stateWord, timeSourceWords } from "../../signatures/signature-words.ts";
import type { Place } from "../data.ts";

export interface SignatureDialogProps {
  signature: Signature;
  place: Place;
  onClose: () => void;
}

/** One signature: where it is, who says when it was made, and what it is worth by each signer. */
export function SignatureDialog({ signature, place, onClose }: SignatureDialogProps) {
  const { state, reason, predicateType, format, manifest, source, attachTime, attachedBy, detachTime } = signature;
  const [word, look] = stateWord(state);
  const said = timeSourceWords(signature.timeSource);
  return (
    <Dialog isOpen isDrawer onClose={onClose} title="Signature" actions={<Button onClick={onClose}>Close</Button>}>
      <Stack>
        <p>
          <Badge look={look}>{word}</Badge> {reason}
        </p>
        <Facts
          facts={[
            ["What for", purposeWords(predicateType)],
            ["Statement", predicateType && <code key="type">{predicateType}</code>],
            ["Says to be by", signature.identity && `${signature.identity}, which is not verified by itself`],
            ["Form", formatWords(format)],
            ["Attached", <Time key="attached" value={attachTime} none="not known" />],
            ["Attached by", <IdentityName key="by" uid={attachedBy} none="not known" />],
            ["No longer attached since", detachTime && <Time key="detached" value={detachTime} />],
            [
              "Made",
              said === "" ? (
                "not recorded by a trusted source"
              ) : (
                <span key="made">
                  <Time value={signature.signedTime} none="not known" />, says {said}
                </span>
              ),
            ],
            [
              "Manifest",
              <Link key="manifest" to="/image" search={{ name: `${place.name}@${manifest}`, part: "manifest" }}>
                {shortDigest(manifest)}
              </Link>,
            ],
            ["Found as", source === "" ? "a referrer" : `the tag ${source}`],
          ]}
        />
        <h3>Result for each signer</h3>
        {signature.verdicts.length === 0 && <p>It was not compared with any signer.</p>}
        {signature.verdicts.map((verdict) => (
          <Verdict key={`${verdict.signer} ${verdict.fromTime}`} verdict={verdict} />
        ))}
      </Stack>
    </Dialog>
  );
}

function Verdict({ verdict }: { verdict: SignatureVerdict }) {
  const { signer, state, reason, fromTime, untilTime, fingerprint } = verdict;
  const [word, look] = stateWord(state);
  return (
    <Card>
      <p>
        <Link to="/signatures/signer" search={{ uid: signer }}>
          {nameOf(verdict)}
        </Link>{" "}
        <Badge look={look}>{word}</Badge>
      </p>
      {reason !== "" && <p>{reason}</p>}
      <Facts
        facts={[
          ["Since", <Time key="since" value={fromTime} none="not known" />],
          ["Until", untilTime && <Time key="until" value={untilTime} />],
          ["Key", fingerprint && <code key="key">{shortDigest(fingerprint)}</code>],
        ]}
      />
    </Card>
  );
}
