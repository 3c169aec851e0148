import { conditionsOf, type FormResult } from "@moorage/api/machines";
import { Command } from "../../ui/command.tsx";
import { Note } from "../../ui/note.tsx";
import { Stack } from "../../ui/page.tsx";

/** Which tokens a form's machine has, in words and as claims, and who else gets in; nothing without all fields. */
export function MatchPreview({ result }: { result?: FormResult }) {
  if (result === undefined) return undefined;
  const { accepts, warnings, match } = result;
  return (
    <Stack>
      <Note>Accepts tokens of {accepts}</Note>
      {warnings.map(({ text, command }) => (
        <Note key={text} look="warning">
          {text}
          {command !== undefined && <Command text={command} label="command that shows them" />}
        </Note>
      ))}
      <details>
        <summary>Claims of the token</summary>
        <ul>
          {conditionsOf(match).map(({ claim, by, value }) => (
            <li key={claim}>
              <code>{claim}</code> {by} <code>{value}</code>
            </li>
          ))}
        </ul>
      </details>
    </Stack>
  );
}
