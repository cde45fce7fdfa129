/** A process that runs `registerAll` and reports the progress. Tests may kill this process. */
import { type Progress, type RegisterAllOptions, registerAll } from '../../src/client/index.ts'

export interface RegisterTask {
  /** The names are `n<number>.com`, for the numbers from `from` to `to`. */
  readonly from: number
  readonly to: number
  readonly options: RegisterAllOptions
}

export type RegisterMessage =
  | { readonly done: number; readonly resumeAt: number }
  | { readonly failure: string }
  | { readonly isDone: true }

function* createNames({ from, to }: RegisterTask) {
  for (let number = from; number < to; number += 1) yield `n${number}.com`
}

const tell = (message: RegisterMessage) => process.send?.(message)

async function register(task: RegisterTask): Promise<void> {
  const onProgress = ({ done, resumeAt }: Progress) => tell({ done: task.from + done, resumeAt: task.from + resumeAt })
  for await (const { status } of registerAll(createNames(task), { ...task.options, onProgress })) {
    if (status === 'invalid') throw new Error('A name was rejected')
  }
}

process.once('message', async (task: RegisterTask) => {
  await register(task).then(
    () => tell({ isDone: true }),
    error => tell({ failure: String(error) }),
  )
  process.disconnect()
})
