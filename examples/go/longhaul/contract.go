// Package longhaul runs tasks of Longhaul from Go, with nothing but Temporal's own SDK.
//
// Copy it into a backend and change what you like. docs/reference/contract.md of Longhaul is the contract,
// docs/reference/contract.schema.json has every field of it.
package longhaul

// NewTask is a task to create. A field that is not set must be left out (omitempty): null is refused.
type NewTask struct {
	WebAppID int `json:"webAppId"`
	// Inputs has a text, a number or a File for each key "<node_id>:<NodeClass>.<parameter>".
	Inputs      map[string]any `json:"inputs"`
	Account     string         `json:"account,omitempty"`
	Archive     string         `json:"archive,omitempty"`
	Watch       string         `json:"watch,omitempty"`
	Deadlines   *Deadlines     `json:"deadlines,omitempty"`
	OnUncertain string         `json:"onUncertain,omitempty"`
	// Webhook names one of the workers, which is called when the task has ended.
	Webhook string         `json:"webhook,omitempty"`
	Tuning  map[string]any `json:"tuning,omitempty"`
}

// File is an input that is uploaded first: a path that the worker may read, an https URL or an s3 URI.
type File struct {
	File string `json:"file"`
	As   string `json:"as,omitempty"`
}

// Deadlines are durations such as "90 seconds" or "12h". They stop the task at the service.
type Deadlines struct {
	Queue string `json:"queue,omitempty"`
	Run   string `json:"run,omitempty"`
	Total string `json:"total,omitempty"`
}

// AdoptedTask is a task that exists at the service already.
type AdoptedTask struct {
	Adopt    RequestID `json:"adopt"`
	WebAppID int       `json:"webAppId,omitempty"`
	Account  string    `json:"account,omitempty"`
	Archive  string    `json:"archive,omitempty"`
}

// RequestID is the service's id of a task.
type RequestID struct {
	RequestID string `json:"requestId"`
}

// TaskResult is what a task ends with.
type TaskResult struct {
	WorkflowID string `json:"workflowId"`
	// RequestID is nil when the task was stopped before it was created.
	RequestID         *string              `json:"requestId"`
	Status            string               `json:"status"` // Success, Failed or Canceled
	Outputs           []Output             `json:"outputs"`
	OutputCount       int                  `json:"outputCount"`
	OutputBytes       int64                `json:"outputBytes"`
	FailedOutputs     []FailedOutput       `json:"failedOutputs"`
	FailedOutputCount int                  `json:"failedOutputCount"`
	Manifest          *string              `json:"manifest"`
	CostTimes         map[string]float64   `json:"costTimes"`
	Cost              *Money               `json:"cost"`
	Timestamps        map[string]Timestamp `json:"timestamps"`
	StartedAt         string               `json:"startedAt,omitempty"`
	CreateNumber      int                  `json:"createNumber,omitempty"`
}

// Output is one archived file.
type Output struct {
	Index       int    `json:"index"`
	Path        string `json:"path"`
	SHA256      string `json:"sha256"`
	Bytes       int64  `json:"bytes"`
	Ext         string `json:"ext"`
	AuditStatus *int   `json:"auditStatus"`
	ErrorType   string `json:"errorType"`
}

// FailedOutput is one that the service reports as failed.
type FailedOutput struct {
	Index     int     `json:"index"`
	ErrorType string  `json:"errorType"`
	Message   *string `json:"message"`
}

// Money is an amount in millionths of a unit.
type Money struct {
	Currency string `json:"currency"`
	Micros   int64  `json:"micros"`
}

// Timestamp is a moment; ISO is nil where the service's text is none.
type Timestamp struct {
	ISO *string `json:"iso"`
	Raw string  `json:"raw"`
}

// TaskStatus is the answer to the query "status".
type TaskStatus struct {
	WorkflowID     string        `json:"workflowId"`
	Status         string        `json:"status"`
	Since          string        `json:"since"`
	StartedAt      string        `json:"startedAt"`
	RequestID      *string       `json:"requestId"`
	ServiceStatus  *string       `json:"serviceStatus"`
	QueuePosition  *int          `json:"queuePosition"`
	Polls          int           `json:"polls"`
	FailedPolls    int           `json:"failedPolls"`
	CreateRequests int           `json:"createRequests"`
	WaitingFor     string        `json:"waitingFor"`
	NextStep       string        `json:"nextStep"`
	Problem        *Problem      `json:"problem"`
	StopRequests   []StopRequest `json:"stopRequests"`
}

// Problem is what keeps a task from going on, or asks for a person.
type Problem struct {
	Code    string  `json:"code"`
	Message string  `json:"message"`
	Since   *string `json:"since"`
	Remedy  *string `json:"remedy"`
}

// StopRequest is a request to end the task, and what became of it.
type StopRequest struct {
	Verb    string `json:"verb"`
	AskedAt string `json:"askedAt"`
	Outcome string `json:"outcome"`
	Words   string `json:"words"`
}

// Batch is a batch to run. A field that is not set must be left out (omitempty).
type Batch struct {
	ID           string         `json:"id"`
	Rows         Rows           `json:"rows"`
	Source       string         `json:"source,omitempty"`
	BadRows      int            `json:"badRows,omitempty"`
	Concurrency  int            `json:"concurrency,omitempty"`
	Archive      string         `json:"archive,omitempty"`
	Names        string         `json:"names,omitempty"`
	Watch        string         `json:"watch,omitempty"`
	Attempts     int            `json:"attempts,omitempty"`
	Budget       string         `json:"budget,omitempty"`
	RetryFailed  bool           `json:"retryFailed,omitempty"`
	AllowChanged bool           `json:"allowChanged,omitempty"`
	AllowNew     bool           `json:"allowNew,omitempty"`
	Tuning       map[string]any `json:"tuning,omitempty"`
}

// Rows are prepared rows, as "longhaul batch run --prepare" prints them.
type Rows struct {
	Location string `json:"location"`
	Digest   string `json:"digest"`
	Rows     int    `json:"rows"`
	Pages    int    `json:"pages"`
}

// BatchResult is what a batch ends with, also one with rows that failed; the schema has more fields of it.
type BatchResult struct {
	Rows     int    `json:"rows"`
	Success  int    `json:"success"`
	Failed   int    `json:"failed"`
	Canceled int    `json:"canceled"`
	Ending   string `json:"ending"`
}

// BatchProgress is the answer to the query "progress"; the schema has more fields of it.
type BatchProgress struct {
	State    string `json:"state"`
	Rows     int    `json:"rows"`
	Running  int    `json:"running"`
	Waiting  int    `json:"waiting"`
	Success  int    `json:"success"`
	Failed   int    `json:"failed"`
	Canceled int    `json:"canceled"`
}
