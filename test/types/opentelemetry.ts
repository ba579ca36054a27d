// Compiled, never run: the instrumentation for OpenTelemetry.
import { metrics, type trace } from '@opentelemetry/api'
import {
  BoxofficeInstrumentation,
  type BoxofficeInstrumentationConfig,
} from 'boxoffice/opentelemetry'

/** What @opentelemetry/instrumentation asks for, in part. */
interface Instrumentation {
  instrumentationName: string
  instrumentationVersion: string
  enable(): void
  disable(): void
  setTracerProvider(provider: ReturnType<typeof trace.getTracerProvider>): void
  setMeterProvider(provider: ReturnType<typeof metrics.getMeterProvider>): void
  setConfig(config: { enabled?: boolean }): void
  getConfig(): { enabled?: boolean }
}

const config: BoxofficeInstrumentationConfig = { enabled: false, waitThreshold: Infinity }

function instrument() {
  const instrumentation: Instrumentation = new BoxofficeInstrumentation(config)
  instrumentation.setMeterProvider(metrics.getMeterProvider())
  new BoxofficeInstrumentation({ enabled: undefined, waitThreshold: undefined })
  // @ts-expect-error a number of milliseconds
  new BoxofficeInstrumentation({ waitThreshold: '5 ms' })
  // @ts-expect-error no such option
  new BoxofficeInstrumentation({ threshold: 5 })
  return new BoxofficeInstrumentation()
}

export { instrument }
