import { type FormEvent, useState } from "react";
import { Button } from "../../../ui/button.tsx";
import { SelectField, TextArea, TextField } from "../../../ui/field.tsx";
import { Card, Row } from "../../../ui/page.tsx";
import { ChoiceField } from "../parts/choice-field.tsx";
import { useChoices } from "../parts/data.ts";
import styles from "../parts/parts.module.css";
import { ANYBODY, type Question, requestOf, TOKEN } from "./request.ts";

const OTHERS = [
  { value: ANYBODY, label: "anybody, without a token" },
  { value: TOKEN, label: "a token of another issuer" },
];

/** Who, what and where: the question. */
export function QuestionForm({ question, onAsk }: { question: Question; onAsk: (question: Question) => void }) {
  const [draft, setDraft] = useState<Question>(question);
  const identities = useChoices("identity");
  const { identity = "", action = "pull", resource = "", method = "", issuer = "", subject = "", claims = "" } = draft;
  const set = (name: keyof Question) => (event: { target: { value: string } }) =>
    setDraft({ ...draft, [name]: event.target.value });
  const isWhole = requestOf(draft) !== undefined;
  const ask = (event: FormEvent): void => {
    event.preventDefault();
    if (isWhole) onAsk(draft);
  };
  return (
    <form onSubmit={ask}>
      <Card>
        <div className={styles.filters}>
          <ChoiceField
            label="Who"
            choices={[...OTHERS, ...identities]}
            value={identity}
            onChange={(value) => setDraft({ ...draft, identity: value })}
            help="The identity to check"
          />
          <SelectField label="What" value={action} onChange={set("action")} help="Dry run: nothing is changed">
            <option value="pull">pull an image</option>
            <option value="push">push an image</option>
            <option value="delete">delete a tag or an image</option>
            <option value="method">call a method of the API</option>
          </SelectField>
          {action === "method" && (
            <TextField label="Method" value={method} onChange={set("method")} help="Such as ReposService/GetRepo" />
          )}
          <TextField
            label={action === "method" ? "Resource" : "Image"}
            value={resource}
            onChange={set("resource")}
            spellCheck={false}
            help={
              action === "method"
                ? "The uid of the resource, or of the group that a new one would belong to"
                : "Such as acme/app:1.0 or acme/app@sha256:…"
            }
          />
          {identity === TOKEN && (
            <>
              <TextField label="Issuer" value={issuer} onChange={set("issuer")} help="The claim iss" />
              <TextField label="Subject" value={subject} onChange={set("subject")} help="The claim sub" />
              <TextArea
                label="Further claims"
                value={claims}
                onChange={set("claims")}
                help="A JSON object, or nothing"
              />
            </>
          )}
        </div>
        <Row>
          <Button
            look="primary"
            type="submit"
            disabledReason={isWhole ? undefined : "Choose an identity, an action, and an image or resource first"}
          >
            Check
          </Button>
        </Row>
      </Card>
    </form>
  );
}
