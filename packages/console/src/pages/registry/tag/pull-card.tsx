import { useState } from "react";
import { Command } from "../../../ui/command.tsx";
import { SelectField } from "../../../ui/field.tsx";
import { Note } from "../../../ui/note.tsx";
import { Card, Row } from "../../../ui/page.tsx";
import { pullCommand, timedTag, type Tool, TOOLS } from "./pull-commands.ts";

/** The command that pulls what the tag pointed to at a moment. */
export function PullCard({ name, tag, digest, atMs }: { name: string; tag: string; digest: string; atMs: number }) {
  const [tool, setTool] = useState<Tool>("docker");
  const [pin, setPin] = useState("digest");
  const timed = timedTag(tag, atMs, Date.now());
  const reference = pin === "time" ? timed && `:${timed}` : `@${digest}`;
  return (
    <Card>
      <Row>
        <SelectField label="Pull with" value={tool} onChange={({ target }) => setTool(target.value as Tool)}>
          {TOOLS.map((each) => (
            <option key={each} value={each}>
              {each}
            </option>
          ))}
        </SelectField>
        <SelectField label="Pinned by" value={pin} onChange={({ target }) => setPin(target.value)}>
          <option value="digest">digest</option>
          <option value="time">tag as of the moment (--at--)</option>
        </SelectField>
      </Row>
      {reference === undefined ? (
        <Note>Pulling a tag as of a moment needs a second that has passed, and a tag of at most 106 characters.</Note>
      ) : (
        <Command text={pullCommand(tool, { host: window.location.host, name, reference })} label="pull command" />
      )}
    </Card>
  );
}
