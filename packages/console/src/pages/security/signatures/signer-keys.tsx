import { useState } from "react";
import type { SignaturePolicy, Signer, SignerKey } from "../../../api/gen/registry.ts";
import { counted } from "../../../lib/bytes.ts";
import { shortDigest } from "../../../lib/digest.ts";
import { Badge } from "../../../ui/badge.tsx";
import type { Column } from "../../../ui/column.ts";
import { Confirm } from "../../../ui/confirm.tsx";
import { Menu } from "../../../ui/menu.tsx";
import { ShortTable } from "../../../ui/short-table.tsx";
import { Time } from "../../../ui/time.tsx";
import { say } from "../../../ui/toasts.tsx";
import { useChanged } from "../../access/parts/use-refresh.ts";
import { endWords, keyWord } from "./key-words.ts";
import { endKey, type KeyEnd } from "./signer-forms.tsx";

export interface SignerKeysProps {
  signer: Signer;
  /** The policies that ask for its signatures: what hangs on its keys. */
  asking: readonly SignaturePolicy[];
  /** Why the person may not change its keys. */
  mayNot: string | undefined;
}

/** The keys of a signer, each to be ended or revoked; before that it is said what hangs on it. */
export function SignerKeys({ signer, asking, mayNot }: SignerKeysProps) {
  const nowMs = Date.now();
  const columns: readonly Column<SignerKey>[] = [
    {
      id: "key",
      header: "Key",
      cell: ({ fingerprint }) => <code title={fingerprint}>{shortDigest(fingerprint)}</code>,
    },
    {
      id: "state",
      header: "State",
      cell: (key) => {
        const [word, look] = keyWord(key, nowMs);
        return <Badge look={look}>{word}</Badge>;
      },
    },
    {
      id: "from",
      header: "From",
      isMinor: true,
      cell: ({ notBefore }) => <Time value={notBefore} none="the beginning" />,
    },
    { id: "until", header: "Until", isMinor: true, cell: ({ notAfter }) => <Time value={notAfter} none="no end" /> },
    {
      id: "revoked",
      header: "Revoked",
      isMinor: true,
      cell: ({ revokeTime }) => <Time value={revokeTime} none="no" />,
    },
    {
      id: "actions",
      header: "Actions",
      align: "end",
      cell: (key) => <KeyActions signer={signer} signerKey={key} asking={asking} mayNot={mayNot} />,
    },
  ];
  return <ShortTable label="Keys" rows={signer.keys} columns={columns} idOf={({ fingerprint }) => fingerprint} />;
}

const ENDS: Readonly<Record<KeyEnd, { verb: string; effect: string }>> = {
  notAfter: { verb: "End key", effect: "Signatures it makes from now on do not count." },
  revokeTime: {
    verb: "Revoke key",
    effect: "From now on, someone else may have it. Only signatures that are known to be from before now count.",
  },
};

interface KeyActionsProps extends SignerKeysProps {
  signerKey: SignerKey;
}

function KeyActions({ signer, signerKey, asking, mayNot }: KeyActionsProps) {
  const [end, setEnd] = useState<KeyEnd>();
  const changed = useChanged();
  const name = shortDigest(signerKey.fingerprint);
  const enforced = asking.filter(({ mode }) => mode === "GATE_MODE_ENFORCE");
  const isOnly = signer.keys.length === 1;
  return (
    <>
      <Menu
        label={`Actions for ${name}`}
        items={[
          {
            label: "End key",
            onSelect: () => setEnd("notAfter"),
            disabledReason: mayNot ?? (signerKey.notAfter === undefined ? undefined : "It already has an end"),
          },
          {
            label: "Revoke key",
            isDanger: true,
            onSelect: () => setEnd("revokeTime"),
            disabledReason: mayNot ?? (signerKey.revokeTime === undefined ? undefined : "It is already revoked"),
          },
        ]}
      />
      {end !== undefined && (
        <Confirm
          isOpen
          onClose={() => setEnd(undefined)}
          title={`${ENDS[end].verb} ${name}?`}
          description={`${ENDS[end].effect} ${endWords(signer)}`}
          action={ENDS[end].verb}
          onConfirm={async () => {
            await endKey(signer, signerKey.fingerprint, end);
            await changed();
            say(`${name}: done`);
          }}
        >
          <p>
            {asking.length === 0
              ? "No policy that you can see requires this signer."
              : `${counted(asking.length, "policy asks", "policies ask")} for this signer: ${asking
                  .map((each) => each.name)
                  .join(", ")}.`}
            {enforced.length > 0 &&
              ` ${counted(enforced.length, "is", "are")} enforced: images that only this key signed are blocked.`}
            {isOnly && " It is the signer's only key."}
          </p>
        </Confirm>
      )}
    </>
  );
}
